/** @module-tag deep */
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Engine } from "@inspo/engine"
import * as LocalEngine from "@inspo/engine-local"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { defaultConfig, type Episode, layer, Rollout, type RolloutConfig } from "@inspo/rollout"
import { Clock, Effect, Layer } from "effect"

const rounds = 256

const config: RolloutConfig = {
  ...defaultConfig,
  agent: { name: "iter-research" },
  maxTurns: rounds,
  maxResponseTokens: 60,
  maxObservationTokens: 40
}

const episode: Episode = {
  id: Trajectory.TrajectoryId.make("train/1/0/0"),
  instruction: Instruction.make("Answer the question.", { id: "i0" }),
  question: {
    id: Question.QuestionId.make("q"),
    question: "Where was the mayor born?",
    goldenAnswers: ["Ostrel Bay"],
    dataSource: "test"
  },
  seed: "0"
}

/** The bytes that are in use. */
const heap = (): number => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

describe("An episode of iter-research on the embedded engine", () => {
  it.live(
    "takes for each of 256 rounds the same time, prompt and memory",
    () =>
      Effect.gen(function* () {
        const sampled: Array<{ readonly prompt: number; readonly milliseconds: number; readonly heap: number }> = []
        const local = yield* Engine
        // The policy would answer soon: it is asked, and something else is read.
        const tokens = local.tokenizer.encode(`<report> ${"a town ".repeat(8)}</report><search> mayor</search>`)
        const written = { tokens, logprobs: tokens.map(() => -1), stopReason: "stop" as const }
        const engine = Engine.of({
          ...local,
          sample: (requests) =>
            Effect.gen(function* () {
              const start = yield* Clock.currentTimeMillis
              const answer = yield* local.sample(requests)
              const milliseconds = (yield* Clock.currentTimeMillis) - start
              const [prompt = 0] = requests.map((request) => request.prompt.length)
              sampled.push({ prompt, milliseconds, heap: sampled.length % (rounds / 4) === 0 ? heap() : 0 })
              return answer.map((one) => ({
                ...one,
                sequences: one.sequences.map((drawn) => ({ ...drawn, ...written }))
              }))
            })
        })
        const environment = Layer.mergeAll(
          Layer.succeed(Engine, engine),
          Layer.succeed(Search, { search: (queries) => Effect.succeed(queries.map(() => [])) }),
          layerExactMatch
        )
        yield* Rollout.use(({ collect }) => collect([episode])).pipe(
          Effect.provide(Layer.provide(layer(config), environment), { local: true })
        )
        assert.isAtLeast(sampled.length, rounds)
        const [second, last] = [sampled.slice(rounds / 4, rounds / 2), sampled.slice(-rounds / 4)]
        assert.strictEqual(
          Math.max(...last.map(({ prompt }) => prompt)),
          Math.max(...second.map(({ prompt }) => prompt))
        )
        const timeOf = (some: typeof sampled) => median(some.map(({ milliseconds }) => milliseconds))
        // A second process takes half of the time now and then.
        assert.isAtMost(timeOf(last), 3 * timeOf(second) + 5)
        const [, , middle = 0, , end = 0] = sampled.flatMap((one) => (one.heap === 0 ? [] : [one.heap]))
        assert.isAtMost(end - middle, 8 * 2 ** 20)
      }).pipe(
        Effect.provide(
          Layer.provide(
            LocalEngine.layer({ workers: 1, checkpoints: join(tmpdir(), "inspo-unused") }),
            NodeServices.layer
          )
        )
      ),
    { timeout: 180_000 }
  )
})
