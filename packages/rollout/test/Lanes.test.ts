import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { Engine, EngineError } from "@inspo/engine"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { defaultConfig, layer, Rollout } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Clock, Effect, Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { instruction, obliging, question } from "./support/Play.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The minutes that the engine takes for each turn of each episode. */
const Episodes = Schema.Array(Schema.NonEmptyArray(between(1, 9)).check(Schema.isMaxLength(4))).check(
  Schema.isMaxLength(8)
)
const inputs = { minutes: Episodes, lanes: between(1, 9), concurrency: between(1, 9) }

interface Input {
  readonly minutes: typeof Episodes.Type
  readonly lanes: number
  readonly concurrency: number
}

interface Meddle {
  readonly sample?: Effect.Effect<void, EngineError>
  readonly onFinished?: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void>
}

/** Collects the episodes on an engine whose calls last as long as their longest turn, and watches what is open. */
const run = (
  { concurrency, minutes, lanes }: Input,
  { onFinished = () => Effect.void, sample = Effect.void }: Meddle = {}
) =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    const lasts = (seed: string): number => {
      const [episode = 0, turn = 0] = seed.split("/").map(Number)
      return minutes[episode]?.[turn] ?? 0
    }
    const scripted = ScriptedEngine.make((_, { seed }) => {
      const [episode = 0, turn = 0] = seed.split("/").map(Number)
      const last = (minutes[episode]?.length ?? 0) - 1
      return turn < last ? `<search> ${turn}</search>` : `<answer> ${episode}</answer>`
    })
    const open = { calls: 0, sequences: 0 }
    const most = { calls: 0, sequences: 0 }
    const engine: Engine.Interface = {
      ...scripted,
      profile: { ...scripted.profile, concurrency, lanes },
      sample: (requests) =>
        Effect.gen(function* () {
          open.calls++
          open.sequences += requests.length
          most.calls = Math.max(most.calls, open.calls)
          most.sequences = Math.max(most.sequences, open.sequences)
          yield* sample
          yield* Effect.sleep(`${Math.max(...requests.map(({ seed }) => lasts(seed)))} minutes`)
          open.calls--
          open.sequences -= requests.length
          return yield* scripted.sample(requests)
        })
    }
    const { collect } = yield* Rollout.pipe(
      Effect.provide(
        layer({ ...defaultConfig, maxTurns: 4, maxPromptTokens: 1000 }).pipe(
          Layer.provide([Layer.succeed(Engine, engine), Layer.succeed(Search, { search: obliging }), layerExactMatch])
        )
      )
    )
    const trajectories = yield* collect(
      minutes.map((_, episode) => ({
        id: Trajectory.TrajectoryId.make(`test/${episode}`),
        instruction,
        question,
        seed: `${episode}`
      })),
      { onFinished }
    )
    return { trajectories, most, minutes: ((yield* Clock.currentTimeMillis) - started) / 60_000 }
  }).pipe(
    // Time passes whenever all wait.
    Effect.raceFirst(Effect.forever(Effect.andThen(Effect.yieldNow, TestClock.adjust("1 minute"))))
  )

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

describe("lanes of rollouts", () => {
  it.effect.prop("yield the same trajectories, however many there are", inputs, (input) =>
    Effect.gen(function* () {
      const { trajectories } = yield* run(input)
      const single = yield* run({ ...input, lanes: 1, concurrency: 8 })
      assert.deepStrictEqual(trajectories, single.trajectories)
      assert.deepStrictEqual(
        trajectories.map(({ turns }) => turns),
        input.minutes.map((turns) => turns.length)
      )
    })
  )

  it.effect.prop("keep no more calls and episodes open than the engine's profile allows", inputs, (input) =>
    Effect.gen(function* () {
      const { most } = yield* run(input)
      assert.isAtMost(most.calls, input.lanes)
      assert.isAtMost(most.sequences, input.concurrency)
      assert.strictEqual(most.sequences, Math.min(input.concurrency, input.minutes.length))
    })
  )

  it.effect.prop("do not wait for one another", inputs, (input) =>
    Effect.gen(function* () {
      const { minutes } = yield* run({ ...input, lanes: input.minutes.length, concurrency: input.minutes.length })
      assert.strictEqual(minutes, Math.max(0, ...input.minutes.map(sum)))
    })
  )

  it.effect.prop("start no round after one of them has failed", inputs, (input) =>
    Effect.gen(function* () {
      const refused: Array<number> = []
      const refuse = (now: number) => {
        refused.push(now)
        return Effect.fail(new EngineError({ operation: "sample", reason: "the engine is gone" }))
      }
      yield* run(input, {
        sample: Effect.flatMap(Clock.currentTimeMillis, (now) => (now < 60_000 ? Effect.void : refuse(now)))
      }).pipe(Effect.result)
      assert.isAtMost(new Set(refused).size, 1)
    })
  )

  it.effect.prop("hand over finished trajectories before they report that the engine failed", inputs, (input) =>
    Effect.gen(function* () {
      const handed: Array<string> = []
      // An engine that is gone after the first minute, on which episodes of one short turn have finished.
      const gone = new EngineError({ operation: "sample", reason: "the engine is gone" })
      const told = yield* run(input, {
        sample: Effect.flatMap(Clock.currentTimeMillis, (now) => (now < 60_000 ? Effect.void : Effect.fail(gone))),
        onFinished: (finished) => Effect.sync(() => handed.push(...finished.map(({ id }) => id)))
      }).pipe(Effect.result)
      const alone = input.lanes >= input.minutes.length && input.concurrency >= input.minutes.length
      const over = input.minutes.flatMap(([first, ...rest], i) =>
        alone && first === 1 && rest.length === 0 ? [`test/${i}`] : []
      )
      if (Result.isFailure(told)) {
        assert.include(told.failure.message, "the engine is gone")
        assert.includeMembers(handed, over)
      } else assert.strictEqual(handed.length, input.minutes.length)
    })
  )
})
