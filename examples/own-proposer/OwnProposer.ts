import { Proposer } from "@inspo/reflection"
import { Spent } from "@inspo/domain"
import { Effect, Layer } from "effect"

/** Proposes a sentence more at a time. */
export const layer = (sentences: ReadonlyArray<string>) => {
  const longer = ({ count, parent }: { readonly count: number; readonly parent: { readonly text: string } }) =>
    Effect.succeed({
      critique: "A sentence may be missing.",
      candidates: sentences.slice(0, count).map((one) => ({ text: `${parent.text} ${one}`, rationale: one })),
      spent: Spent.nothing
    })
  return Layer.succeed(Proposer, { initial: longer, propose: longer })
}
