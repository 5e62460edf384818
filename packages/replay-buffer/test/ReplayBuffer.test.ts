import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Array as Arr, Effect, Option, Result, Schema } from "effect"
import * as fc from "fast-check"
import { type Experience, Instruction, Question, Trajectory } from "@inspo/domain"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Buffers } from "@inspo/replay-buffer/testing"

const AnyRow = Schema.Struct({
  instruction: Schema.Literals([0, 1]),
  question: Schema.Literals([0, 1, 2, 3]),
  reward: Schema.Literals([0, 0.5, 1])
})
interface Row {
  readonly instruction: number
  readonly question: number
  readonly reward: number
}

/** Step t is at index t - 1. */
const AnyLog = Schema.Array(Schema.Array(AnyRow).check(Schema.isMaxLength(8))).check(Schema.isMaxLength(6))
type Log = ReadonlyArray<ReadonlyArray<Row>>

const Options = Schema.Struct({ capacitySteps: Schema.Literals([1, 2, 4]), perQuestionCap: Schema.Literals([1, 2, 5]) })

const Draw = Schema.Struct({
  seed: Schema.Int,
  count: Schema.Literals([0, 1, 3, 20]),
  threshold: Schema.Literals([0.5, 1]),
  exclude: Schema.Array(Schema.Literals([0, 1, 2])).check(Schema.isMaxLength(2))
})

const instruction = (index: number) => Instruction.InstructionId.make(`i${index}`)
const question = (index: number) => Question.QuestionId.make(`q${index}`)

const toExperiences = (step: number, rows: ReadonlyArray<Row>): ReadonlyArray<Experience.Experience> =>
  rows.map((row, index) => ({
    trajectoryId: Trajectory.TrajectoryId.make(`train/${step}/${index}/0`),
    instructionId: instruction(row.instruction),
    questionId: question(row.question),
    dataSource: "world",
    step,
    reward: row.reward
  }))

const remember = (memory: ReplayBuffer.Interface, log: Log): ReplayBuffer.Contents =>
  log.reduce((buffer, rows, index) => memory.add(buffer, index + 1, toExperiences(index + 1, rows)), ReplayBuffer.empty)

const failuresRequest = (draw: typeof Draw.Type): ReplayBuffer.FailuresRequest => ({
  parent: instruction(0),
  count: draw.count,
  threshold: draw.threshold,
  seed: draw.seed,
  path: ["failures", 3]
})

const verificationRequest = (draw: typeof Draw.Type): ReplayBuffer.VerificationRequest => ({
  samples: draw.count,
  exclude: draw.exclude.map(question),
  seed: draw.seed,
  path: ["verification", 3]
})

const questions = (experiences: ReadonlyArray<Experience.Experience>) =>
  experiences.map((experience) => experience.questionId)

const steps = (experiences: ReadonlyArray<Experience.Experience>) => experiences.map((experience) => experience.step)

const descending = (values: ReadonlyArray<number>) => values.toSorted((a, b) => b - a)

const uniform = ({ capacitySteps }: Pick<ReplayBuffer.Choices, "capacitySteps">) =>
  ReplayBuffer.make({ capacitySteps, perQuestionCap: null, failures: "any", questions: "uniform" })

const both = (options: typeof Options.Type) => [ReplayBuffer.latest(options), ReplayBuffer.own(options)]

describe("add", () => {
  it.prop(
    "refuses a step that is remembered, a stranger's step and a reward that is none",
    [AnyLog, Options],
    (input) => {
      const [log, options] = input
      const rows = [{ instruction: 0, question: 0, reward: 1 }]
      const step = log.length + 1
      for (const memory of both(options)) {
        const buffer = memory.add(remember(memory, log), step, toExperiences(step, rows))
        for (const known of [step, step - 1])
          assert.throws(
            () => memory.add(buffer, known, toExperiences(known, rows)),
            /step is .*; expected a step after/u
          )
        assert.throws(() => memory.add(buffer, step + 1, toExperiences(step, rows)), /step of train.*; expected/u)
        for (const reward of [-1, 5, NaN])
          assert.throws(
            () => memory.add(buffer, step + 1, toExperiences(step + 1, [{ instruction: 0, question: 0, reward }])),
            /rewards\[0\] is .*\[0, 1\]/u
          )
      }
    }
  )

  it.prop(
    "latest: the buffer holds exactly the latest steps, in order of arrival",
    [AnyLog, Options],
    ([log, options]) => {
      const everything = log.flatMap((rows, index) => toExperiences(index + 1, rows))
      assert.deepStrictEqual(
        remember(ReplayBuffer.latest(options), log).experiences,
        everything.filter(({ step }) => step > log.length - options.capacitySteps)
      )
    }
  )

  it.prop("own: no step beyond the capacity, no question beyond its cap", [AnyLog, Options], ([log, options]) => {
    const { experiences } = remember(ReplayBuffer.own(options), log)
    for (const { step } of experiences) assert.isAbove(step, log.length - options.capacitySteps)
    for (const held of Map.groupBy(experiences, ({ questionId }) => questionId).values())
      assert.isAtMost(held.length, options.perQuestionCap)
  })

  it.prop(
    "own: what a cap drops is older than what it keeps, or as old with no lower a reward",
    [AnyLog, Options],
    ([log, options]) => {
      const { experiences } = remember(ReplayBuffer.own(options), log)
      const dropped = log
        .flatMap((rows, index) => toExperiences(index + 1, rows))
        .filter(({ step }) => step > log.length - options.capacitySteps)
        .filter(({ trajectoryId }) => !experiences.some((kept) => kept.trajectoryId === trajectoryId))
      for (const out of dropped) {
        const held = experiences.filter(({ questionId }) => questionId === out.questionId)
        assert.strictEqual(held.length, options.perQuestionCap)
        for (const kept of held)
          assert.isTrue(kept.step > out.step || (kept.step === out.step && kept.reward <= out.reward))
      }
    }
  )

  it.prop("a buffer survives JSON unchanged", [AnyLog, Options], ([log, options]) => {
    const codec = Schema.fromJsonString(ReplayBuffer.Contents)
    for (const memory of both(options)) {
      const buffer = remember(memory, log)
      assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(buffer)), buffer)
    }
  })
})

describe("failures", () => {
  it.prop(
    "are distinct experiences of the buffer with a reward below the threshold, at most count",
    [AnyLog, Options, Draw],
    ([log, options, draw]) => {
      for (const memory of both(options)) {
        const buffer = remember(memory, log)
        const failures = memory.failures(buffer, failuresRequest(draw))
        assert.isAtMost(failures.length, draw.count)
        assert.strictEqual(new Set(failures).size, failures.length)
        for (const failure of failures) {
          assert.include(buffer.experiences, failure)
          assert.isBelow(failure.reward, draw.threshold)
        }
      }
    }
  )

  it.prop(
    "latest: as many as asked for, of whatever instruction, while the latest step has them",
    [AnyLog, Options, Draw],
    ([log, options, draw]) => {
      const memory = ReplayBuffer.latest(options)
      const buffer = remember(memory, log)
      const latest = Math.max(...steps(buffer.experiences))
      const failed = buffer.experiences.filter(({ step, reward }) => step === latest && reward < draw.threshold)
      const failures = memory.failures(buffer, failuresRequest(draw))
      assert.strictEqual(failures.length, Math.min(draw.count, failed.length))
      for (const failure of failures) assert.include(failed, failure)
    }
  )

  it.prop(
    "own: the parent's own, one per question while there are such, each the question's latest",
    [AnyLog, Options, Draw],
    ([log, options, draw]) => {
      const memory = ReplayBuffer.own(options)
      const buffer = remember(memory, log)
      const own = buffer.experiences.filter(
        ({ instructionId, reward }) => instructionId === instruction(0) && reward < draw.threshold
      )
      const latest = [...Map.groupBy(own, ({ questionId }) => questionId).values()].map((group) =>
        Math.max(...steps(group))
      )
      const failures = memory.failures(buffer, failuresRequest(draw))
      for (const failure of failures) assert.include(own, failure)
      assert.strictEqual(failures.length, Math.min(draw.count, own.length))
      const firsts = failures.slice(0, latest.length)
      assert.strictEqual(new Set(questions(firsts)).size, firsts.length)
      assert.deepStrictEqual(steps(firsts), descending(latest).slice(0, draw.count))
      const rest = steps(failures.slice(latest.length))
      assert.deepStrictEqual(rest, descending(rest))
    }
  )

  it("are drawn with equal chances among equals", () => {
    const rows = Arr.makeBy(6, (index) => ({ instruction: 0, question: index, reward: 0 }))
    for (const memory of both({ capacitySteps: 4, perQuestionCap: 5 })) {
      const buffer = remember(memory, [rows])
      const drawn = Arr.makeBy(1500, (seed) =>
        questions(memory.failures(buffer, failuresRequest({ seed, count: 3, threshold: 1, exclude: [] })))
      ).flat()
      for (const index of Arr.range(0, 5))
        assert.approximately(drawn.filter((drawnId) => drawnId === question(index)).length / 1500, 0.5, 0.05)
    }
  })
})

describe("verificationQuestions", () => {
  it.prop(
    "own: distinct, never excluded, the most recent first, as many as there are",
    [AnyLog, Options, Draw],
    ([log, options, draw]) => {
      const memory = ReplayBuffer.own(options)
      const buffer = remember(memory, log)
      const request = verificationRequest(draw)
      const chosen = memory.verificationQuestions(buffer, request)
      const latest = new Map(buffer.experiences.map(({ questionId, step }) => [questionId, step]))
      for (const excluded of request.exclude) {
        latest.delete(excluded)
        assert.notInclude(chosen, excluded)
      }
      assert.strictEqual(new Set(chosen).size, chosen.length)
      assert.deepStrictEqual(
        chosen.map((id) => latest.get(id)),
        descending([...latest.values()]).slice(0, draw.count)
      )
    }
  )

  it.prop(
    "latest: a subset of the questions, as many as there are or as asked for",
    [AnyLog, Options, Draw],
    ([log, options, draw]) => {
      const memory = ReplayBuffer.latest(options)
      const buffer = remember(memory, log)
      const chosen = memory.verificationQuestions(buffer, verificationRequest(draw))
      const known = new Set(questions(buffer.experiences))
      assert.strictEqual(new Set(chosen).size, chosen.length)
      assert.strictEqual(chosen.length, Math.min(draw.count, known.size))
      assert.includeMembers([...known], [...chosen])
    }
  )

  it("latest: every question has the same chance", () => {
    const memory = ReplayBuffer.latest({ capacitySteps: 1 })
    const row = (index: number): Row => ({ instruction: 0, question: index, reward: 1 })
    const buffer = remember(memory, [[row(0), row(0), row(0), row(1), row(2), row(3)]])
    const chosen = Arr.makeBy(4000, (seed) =>
      memory.verificationQuestions(buffer, { samples: 1, exclude: [], seed, path: ["verification", 1] })
    ).flat()
    for (const index of Arr.range(0, 3))
      assert.approximately(chosen.filter((id) => id === question(index)).length / 4000, 0.25, 0.03)
  })

  it.prop(
    "uniform: always as many as asked for, all from the buffer; none from an empty one",
    [AnyLog, Options, Draw],
    ([log, options, draw]) => {
      const memory = uniform(options)
      const buffer = remember(memory, log)
      const chosen = memory.verificationQuestions(buffer, verificationRequest(draw))
      assert.strictEqual(chosen.length, buffer.experiences.length === 0 ? 0 : draw.count)
      assert.includeMembers(questions(buffer.experiences), [...chosen])
    }
  )

  it("uniform: uniform over experiences, so that a question counts as often as it was rolled out", () => {
    const memory = uniform({ capacitySteps: 1 })
    const row = (index: number): Row => ({ instruction: 0, question: index, reward: 1 })
    const buffer = remember(memory, [[row(0), row(0), row(0), row(1)]])
    const chosen = memory.verificationQuestions(buffer, {
      samples: 4000,
      exclude: [],
      seed: 2,
      path: ["verification", 1]
    })
    assert.approximately(chosen.filter((id) => id === question(0)).length / 4000, 0.75, 0.03)
  })
})

describe("streams", () => {
  it.prop("equal requests give equal draws", [AnyLog, Options, Draw], ([log, options, draw]) => {
    for (const memory of both(options)) {
      const buffer = remember(memory, log)
      assert.deepStrictEqual(
        memory.failures(buffer, failuresRequest(draw)),
        memory.failures(buffer, failuresRequest(draw))
      )
      assert.deepStrictEqual(
        memory.verificationQuestions(buffer, verificationRequest(draw)),
        memory.verificationQuestions(buffer, verificationRequest(draw))
      )
    }
  })

  it.prop("paths and seeds have their own streams", [Schema.Int], ([seed]) => {
    const rows = Arr.makeBy(60, (index) => ({ instruction: 0, question: index, reward: 0 }))
    for (const memory of both({ capacitySteps: 1, perQuestionCap: 1 })) {
      const buffer = remember(memory, [rows])
      const drawn = (seed: number, step: number) => [
        memory.failures(buffer, { parent: instruction(0), count: 20, threshold: 1, seed, path: ["failures", step] }),
        memory.verificationQuestions(buffer, { samples: 20, exclude: [], seed, path: ["verification", step] })
      ]
      const first = drawn(seed, 1)
      for (const other of [drawn(seed, 2), drawn(seed + 1, 1)])
        for (const [index, result] of other.entries()) assert.notDeepEqual(result, first[index])
    }
  })
})

describe("storedMean", () => {
  it.prop(
    "is the mean, over the questions the instruction met, of its mean reward on each",
    [AnyLog, Draw],
    ([log, draw]) => {
      const buffer = remember(ReplayBuffer.latest({ capacitySteps: 9 }), log)
      const asked = [...draw.exclude, ...draw.exclude, 3].map(question)
      const means = asked.flatMap((id) => {
        const met = buffer.experiences.filter((one) => one.questionId === id && one.instructionId === instruction(1))
        return met.length === 0 ? [] : [met.reduce((sum, one) => sum + one.reward, 0) / met.length]
      })
      const expected = means.length === 0 ? null : means.reduce((sum, value) => sum + value, 0) / means.length
      assert.deepStrictEqual(Option.getOrNull(ReplayBuffer.storedMean(buffer, instruction(1), asked)), expected)
    }
  )
})

describe("ReplayBuffer", () => {
  for (const name of ["latest", "own"] as const)
    it(`behaves as a plain list would, under any sequence of calls (${name})`, () => {
      fc.assert(
        fc.property(
          fc.record({ capacitySteps: fc.constantFrom(1, 2, 4), perQuestionCap: fc.constantFrom(1, 2, 5) }),
          fc.commands(commands, { maxCommands: 30 }),
          (options, program) => {
            fc.modelRun(
              () => ({
                model: {
                  ...options,
                  perQuestionCap: name === "latest" ? Infinity : options.perQuestionCap,
                  step: 0,
                  held: []
                },
                real: {
                  memory: name === "latest" ? ReplayBuffer.latest(options) : ReplayBuffer.own(options),
                  buffer: ReplayBuffer.empty
                }
              }),
              program
            )
          }
        ),
        { numRuns: 150, seed: Number(process.env["INSPO_SEQUENCES_SEED"] ?? 13) }
      )
    })
})

describe("the schema of a buffer", () => {
  it.prop("accepts every generated buffer, and keeps it through JSON", [Buffers.arbitrary], ([buffer]) => {
    const codec = Schema.fromJsonString(ReplayBuffer.Contents)
    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(buffer)), buffer)
  })

  it.prop("refuses steps out of order", [Buffers.arbitrary], ([{ experiences }]) => {
    const found = Schema.decodeUnknownResult(ReplayBuffer.Contents)({ experiences: experiences.toReversed() })
    assert.strictEqual(Result.isSuccess(found), new Set(steps(experiences)).size <= 1)
  })

  it.effect("is generated without discards", () =>
    Effect.gen(function* () {
      const found = yield* Arbitrary.checkEffect(Buffers.arbitrary, () => true, { runs: 300, seed: "1" })
      assert.include(found, { _tag: "Passed", discards: 0 })
    })
  )
})

describe("layer", () => {
  const choices = { capacitySteps: 1, perQuestionCap: 2, failures: "own", questions: "distinct" } as const

  it.effect("provides the strategy of its options", () =>
    Effect.gen(function* () {
      const { failures, identity } = yield* ReplayBuffer.ReplayBuffer
      const buffer = remember(ReplayBuffer.make(choices), [[{ instruction: 0, question: 0, reward: 0 }]])
      const request = failuresRequest({ seed: 1, count: 20, threshold: 1, exclude: [] })
      assert.deepStrictEqual(failures(buffer, request), ReplayBuffer.make(choices).failures(buffer, request))
      assert.deepStrictEqual(identity, { name: "ring", parameters: choices })
    }).pipe(Effect.provide(ReplayBuffer.layer(choices)))
  )

  it.effect("fails on options out of range, without a defect", () =>
    Effect.gen(function* () {
      for (const wrong of [{ capacitySteps: 0 }, { perQuestionCap: -1 }, { capacitySteps: NaN }]) {
        const refused = yield* Effect.flip(Effect.provide(ReplayBuffer.ReplayBuffer, ReplayBuffer.layer(wrong)))
        assert.include(refused, { _tag: "InvalidInput", where: "ReplayBuffer.make" })
      }
    })
  )
})

/** The naive twin: a plain list, from which one experience at a time is thrown out. */
interface Model {
  readonly capacitySteps: number
  readonly perQuestionCap: number
  step: number
  held: ReadonlyArray<Experience.Experience>
}

interface Real {
  readonly memory: ReplayBuffer.Interface
  buffer: ReplayBuffer.Contents
}

/** The first experience, in order of expendability, of a question that is held too often. */
const surplus = (model: Model): Experience.Experience | undefined =>
  model.held
    .filter((one) => model.held.filter((other) => other.questionId === one.questionId).length > model.perQuestionCap)
    .toReversed()
    .toSorted((a, b) => a.step - b.step || b.reward - a.reward)[0]

const commands: Array<fc.Arbitrary<fc.Command<Model, Real>>> = [
  fc
    .tuple(
      fc.integer({ min: 1, max: 2 }),
      fc.array(
        fc.record<Row>({
          instruction: fc.constantFrom(0, 1),
          question: fc.constantFrom(0, 1, 2),
          reward: fc.constantFrom(0, 0.5, 1)
        }),
        { maxLength: 8 }
      )
    )
    .map(([later, rows]) => ({
      check: () => true,
      run: (model, real) => {
        model.step += later
        const experiences = toExperiences(model.step, rows)
        model.held = [...model.held, ...experiences].filter(({ step }) => model.step - step < model.capacitySteps)
        for (let out = surplus(model); out !== undefined; out = surplus(model)) {
          const expendable = out
          model.held = model.held.filter((one) => one !== expendable)
        }
        real.buffer = real.memory.add(real.buffer, model.step, experiences)
        assert.deepStrictEqual(real.buffer.experiences, model.held)
      },
      toString: () => `add(+${later}, ${fc.stringify(rows)})`
    })),
  fc.integer().map((seed) => ({
    check: () => true,
    run: (model, real) => {
      const all = { parent: instruction(0), count: 999, threshold: 1, seed, path: ["failures"] }
      const latest = Math.max(...steps(model.held))
      const eligible = model.held.filter(
        (one) =>
          one.reward < 1 &&
          (model.perQuestionCap === Infinity ? one.step === latest : one.instructionId === instruction(0))
      )
      assert.sameMembers([...real.memory.failures(real.buffer, all)], [...eligible])
      assert.deepStrictEqual(real.buffer.experiences, model.held)
    },
    toString: () => `failures(${seed})`
  }))
]
