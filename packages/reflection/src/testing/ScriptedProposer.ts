import { Spent } from "@inspo/domain"
import { Effect, Layer } from "effect"
import { type InitialRequest, Proposer } from "../Proposer.ts"

/** A proposer that follows a script instead of a model: the texts of its candidates. It makes no calls. */
export const layer = (
  script: (request: Pick<InitialRequest, "count" | "parent" | "seed" | "stream">) => ReadonlyArray<string>
): Layer.Layer<Proposer> => {
  const propose = (request: Pick<InitialRequest, "count" | "parent" | "seed" | "stream">) =>
    Effect.sync(() => ({
      critique: "scripted",
      candidates: script(request).map((text) => ({ text, rationale: "scripted" })),
      spent: Spent.nothing
    }))
  return Layer.succeed(Proposer, { initial: propose, propose })
}
