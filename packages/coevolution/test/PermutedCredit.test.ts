import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Proposer } from "@inspo/reflection"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Layer } from "effect"
import { algorithm as base, prepare, runOn } from "./support/ScriptedRun.ts"

/** One evolution with one free place, of which four candidates are tried. */
const algorithm = (seed: number, permuteCredit: boolean): Algorithm => ({
  ...base,
  randomSeed: seed,
  population: { ...base.population, size: 2, parents: 1 },
  proposer: { ...base.proposer, candidates: candidates.length },
  schedule: { ...base.schedule, steps: 2, pruneEvery: 9, evolveEvery: 2, evolveUntil: 2 },
  selection: { ...base.selection, lint: "parsed", rounds: 1 },
  verification: { samples: 2 },
  evaluation: { ...base.evaluation, questions: 0, every: 9 },
  control: { ...base.control, permuteCredit, policyFirst: 2 }
})

const candidates = ["good", "useless", "needless", "pointless"].map((text) => ({
  text: `${text}. Answer between <answer> and </answer>.`,
  rationale: text
}))

const proposer = Layer.succeed(
  Proposer,
  Proposer.of({
    initial: () => Effect.die("the population begins with its seed alone"),
    propose: () => Effect.succeed({ critique: "It is not good.", candidates, spent: { calls: 0, tokens: 0, usd: 0 } })
  })
)

/** How many of these runs let the good candidate in: under it alone the policy answers right, and then always. */
const goodOnes = Effect.fnUntraced(function* (seeds: number, permuteCredit: boolean) {
  const accepted = yield* Effect.forEach(
    Array.from({ length: seeds }, (_, index) => algorithm(index + 1, permuteCredit)),
    Effect.fnUntraced(
      function* (settings) {
        const { data } = yield* prepare(settings)
        const answers = new Map(data.train.map(({ goldenAnswers, question }) => [question, goldenAnswers[0]]))
        const engine = ScriptedEngine.make((prompt) => {
          const question = prompt.includes("good.")
            ? [...answers.keys()].find((known) => prompt.includes(known))
            : undefined
          return `<answer> ${question === undefined ? "Nobody" : answers.get(question)}</answer>`
        })
        const journal = yield* Journal
        yield* runOn(settings, Layer.succeed(Journal, journal), undefined, { engine: () => engine, proposer })
        const events = yield* EventLog.read(journal)
        return events.flatMap((event) => (event._tag === "PopulationRefilled" ? event.accepted : []))
      },
      Effect.provide(layerMemory, { local: true })
    )
  )
  assert.deepStrictEqual(
    accepted.map(({ length }) => length),
    Array<number>(seeds).fill(1)
  )
  return accepted.flat().filter(({ instruction }) => instruction.text.startsWith("good")).length
})

describe("permuted credit", () => {
  it.effect("leaves it to chance which candidate passes verification, where true credit lets the good one in", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* goodOnes(4, false), 4)
      // One in four of 24: 13 or more have a chance of 1 in 700.
      assert.isBelow(yield* goodOnes(24, true), 13)
    })
  )
})
