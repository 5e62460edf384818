/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import type { Algorithm } from "@inspo/coevolution"
import { Learners, ProposerModel } from "@inspo/reflection"
import { GroupRewards } from "@inspo/reward"
import { Effect, Schema } from "effect"
import { type Ended, live, makeWorld, type Point } from "./support/CrashingRun.ts"
import { algorithm as base, comparing, rescuing, sharing } from "./support/ScriptedRun.ts"

const small = (settings: Algorithm, evolveUntil = 3): Algorithm => ({
  ...settings,
  schedule: { ...settings.schedule, steps: 5, pruneEvery: 2, evolveEvery: 2, evolveUntil },
  selection: { ...settings.selection, failures: "any" },
  checkpoint: { every: 2, keep: 1 },
  evaluation: { ...settings.evaluation, questions: 2, every: 2 }
})

/** A proposer that learns, which has something to learn from at its second proposal. */
const learning = (kind: "evolving" | "lessons"): Algorithm => {
  const proposer = { kind: ProposerModel.learning(kind), model: ProposerModel.named("openai:proposer") }
  return small({ ...base, proposer: { ...base.proposer, ...proposer } }, 5)
}

/** Crashes once at every point there is, and is resumed each time. */
const crashingEverywhere = Effect.fnUntraced(function* (settings: Algorithm) {
  const world = yield* makeWorld
  const crashes = new Set<Point>()
  const isNew = (point: Point): boolean => {
    const known = crashes.has(point)
    crashes.add(point)
    return !known
  }
  let ended: Ended | null = null
  while (ended === null) ended = yield* live(settings, world, isNew)
  return { ended, world, crashes }
})

describe("A run that crashes once before and once after everything it does outside, and is resumed each time", () => {
  it.effect.each([
    ["verification in rollouts of its own", small(base)],
    ["instructions on the same questions", small(comparing)],
    ["instructions that share samples", small(sharing)],
    [
      "a loss, a rule of credit and a choice of rollouts that engines lack",
      small({
        ...base,
        train: {
          ...base.train,
          loss: { name: "gspo", low: 3e-4, high: 4e-4 },
          credit: { name: "retrieval" },
          keep: { name: "differing", draws: 0 }
        }
      })
    ],
    [
      "a judge of pairs and one of key turns",
      small({
        ...base,
        reward: {
          ...base.reward,
          shaping: { name: "tournament", model: "openai:judge", criteria: "", again: 0.2 }
        },
        train: {
          ...base.train,
          credit: { name: "key-turns", gamma: 0.99, model: "openai:judge", criteria: "", again: 0.2 }
        }
      })
    ],
    [
      "an agent that prunes its memory, judged by rubrics",
      small({
        ...base,
        randomSeed: 4,
        rollout: { ...base.rollout, agent: { name: "memory" } },
        reward: {
          ...base.reward,
          shaping: Schema.decodeSync(GroupRewards.Shaping)({ name: "rubric", model: "openai:judge" })
        }
      })
    ],
    [
      "an agent whose reflections are judged",
      small({
        ...base,
        rollout: { ...base.rollout, agent: { name: "reflect" } },
        train: {
          ...base.train,
          credit: { name: "reflections", epsilon: 1e-6, model: "openai:judge", criteria: "", again: 0.2 }
        }
      })
    ],
    ["a proposer whose prompt evolves", learning("evolving")],
    ["a proposer that keeps lessons", learning("lessons")],
    ["further rounds and earlier successes", small(rescuing)],
    ["the next step sampled while one trains", small({ ...base, train: { ...base.train, staleness: 1 } })]
  ] as const)(
    "comes to the events and checkpoints of one that did not, and pays for nothing twice that it has stored (%s)",
    ([, settings]) =>
      Effect.gen(function* () {
        const undisturbed = yield* live(settings, yield* makeWorld, () => false)
        assert.isTrue(
          undisturbed?.events.some((event) => event._tag === "CandidatesProposed" && event.candidates.length > 0),
          "a proposer whose first answer was of no use is asked anew"
        )
        assert.strictEqual(
          undisturbed?.events.some((event) => event._tag === "StepPlanned" && event.policy !== undefined),
          settings.train.staleness > 0
        )
        const { crashes, ended, world } = yield* crashingEverywhere(settings)
        for (const what of ["train ", "save ", "restore ", "remove ", "ask ", "reserve ", "put ", "append "])
          assert.isTrue(
            [...crashes].some((point) => point.startsWith(`after ${what}`)),
            what
          )
        assert.deepStrictEqual(ended, undisturbed)
        assert.strictEqual(
          [...world.asked.keys()].some((key) => key.endsWith("/learning")),
          Learners.fromConfig(settings.proposer.kind) !== undefined,
          "a proposer that learns has a question of its own"
        )
        // An answer is lost by a crash between asking and storing it, and the first one at the point of the first settlement.
        assert.isAtMost(Math.max(...world.asked.values()), 5)
        // A crash of an update also loses the turns that are sampled meanwhile.
        assert.isAtMost(Math.max(...world.sampled.values()), settings.train.staleness > 0 ? 6 : 4)
      }),
    { timeout: 180_000 }
  )
})
