import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { ClauseBank, Proposer } from "@inspo/reflection"
import { Effect } from "effect"
import { layerProposer } from "../../src/proposer/Proposer.ts"

const own: ClauseBank.Clause = { id: "own", behaviour: null, direction: 0, texts: ["Walk on.", "Go ahead."] }

const first = (kind: typeof Presets.quick.proposer.kind, control: typeof Presets.quick.control) =>
  Proposer.use((proposer) =>
    proposer.initial({ parent: { text: "Do." }, count: 100, seed: 1, stream: ["first"] })
  ).pipe(
    Effect.map(({ candidates }) => candidates.map(({ text }) => text).toSorted()),
    Effect.provide(layerProposer({ ...Presets.quick, control, proposer: { ...Presets.quick.proposer, kind } })),
    Effect.provide(NodeServices.layer)
  )

const kinds = [
  { name: "reflection", prompt: null },
  { name: "random" },
  { name: "paraphrase", prompt: null },
  { name: "history", prompt: null }
] as const

describe.each(kinds)("the offline proposer $name", (kind) => {
  it.effect("writes with control.clauses, and with those that ship where there are none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* first(kind, { ...Presets.quick.control, clauses: [own] }), [
        "Do. Go ahead.",
        "Do. Walk on."
      ])
      assert.deepStrictEqual(
        yield* first(kind, Presets.quick.control),
        ClauseBank.clauses.flatMap(({ texts }) => texts.map((text) => `Do. ${text}`)).toSorted()
      )
    })
  )
})
