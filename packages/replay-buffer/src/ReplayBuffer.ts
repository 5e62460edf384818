/** The rollouts that a run remembers: failures to reflect on, and questions to verify candidates on. */
import { Array as Arr, Context, Layer, Option, Order, Schema } from "effect"
import {
  Attempt,
  Experience,
  type Instruction,
  InvalidInput,
  type Question,
  RandomStream,
  type Strategy
} from "@inspo/domain"

/** The remembered experiences, oldest step first, within a step in order of arrival. */
export const Contents = Schema.Struct({
  experiences: Schema.Array(Experience.Experience).check(
    Schema.makeFilter((all) => all.every(({ step }, place) => step >= (all[place - 1]?.step ?? step)), {
      expected: "experiences in the order of their steps"
    })
  )
})
export interface Contents extends Schema.Schema.Type<typeof Contents> {}

/** A memory of experiences, and draws from it. Pure: the same contents, seed and path give the same draw. */
export interface Interface {
  readonly identity: Strategy.Identity
  /**
   * Adds the experiences of step `step` and removes those beyond the capacity. Throws `InvalidInput` unless the step is
   * after those remembered, the experiences are of this step, and their rewards are in [0, 1].
   */
  readonly add: (buffer: Contents, step: number, experiences: ReadonlyArray<Experience.Experience>) => Contents
  /** Failures for a proposer to reflect on: at most `count`, all distinct; none without failures. */
  readonly failures: (buffer: Contents, request: FailuresRequest) => ReadonlyArray<Experience.Experience>
  /** D_B: the questions to verify candidates on, at most `samples`. */
  readonly verificationQuestions: (buffer: Contents, request: VerificationRequest) => ReadonlyArray<Question.QuestionId>
}

/** A memory of experiences, and what is drawn from it. */
export class ReplayBuffer extends Context.Service<ReplayBuffer, Interface>()("@inspo/replay-buffer/ReplayBuffer") {}

/** A reward below `threshold` is a failure. `seed` and `path` name the random stream. */
export interface FailuresRequest {
  readonly parent: Instruction.InstructionId
  readonly count: number
  readonly threshold: number
  readonly seed: number
  readonly path: RandomStream.StreamPath
}

/** `exclude` are the questions of the reflected failures. `seed` and `path` name the random stream. */
export interface VerificationRequest {
  readonly samples: number
  readonly exclude: ReadonlyArray<Question.QuestionId>
  readonly seed: number
  readonly path: RandomStream.StreamPath
}

/** The options of what is kept and what is drawn. */
export interface Choices {
  /** How many of the latest steps are kept, at least 1. */
  readonly capacitySteps: number
  /** The most experiences kept per question, at least 1: the latest, then those of lowest reward; null keeps all. */
  readonly perQuestionCap: number | null
  /** Whose failures: any of the latest step, or the parent's own, the latest first, of as many questions as possible. */
  readonly failures: "any" | "own"
  /**
   * D_B: drawn uniformly over experiences, with replacement, so that questions may repeat and may include reflected ones; a
   * random subset of the questions, reflected ones among them; or distinct questions, the most recent first, disjoint from
   * `exclude`.
   */
  readonly questions: "uniform" | "subset" | "distinct"
}

/** An empty buffer. */
export const empty: Contents = { experiences: [] }

/**
 * As in the paper: all experiences of the latest steps are kept (the paper: one step). Failures are any of the latest
 * step, whichever instruction they belong to. Verification questions are a random subset of those remembered.
 */
export const latest = (options: Pick<Choices, "capacitySteps">): Interface =>
  make({ ...options, perQuestionCap: null, failures: "any", questions: "subset" })

/** A ring of `capacitySteps` steps with a cap per question. Failures are the parent's own, verification questions not in `exclude`. */
export const own = (options: Pick<Choices, "capacitySteps" | "perQuestionCap">): Interface =>
  make({ ...options, failures: "own", questions: "distinct" })

/** Any combination of options; by default as {@link own}, with 5 steps and 10 experiences of a question. */
export const make = (choices: Partial<Choices> = {}): Interface => {
  const { capacitySteps, failures, perQuestionCap, questions } = { ...defaults, ...choices }
  InvalidInput.assertCount("ReplayBuffer.make", "capacitySteps", capacitySteps, 1)
  if (perQuestionCap !== null) InvalidInput.assertCount("ReplayBuffer.make", "perQuestionCap", perQuestionCap, 1)
  return {
    identity: { name: "ring", parameters: { capacitySteps, perQuestionCap, failures, questions } },
    add: (buffer, step, experiences) => add({ capacitySteps, perQuestionCap }, buffer, step, experiences),
    failures: failures === "any" ? anyFailures : ownFailures,
    verificationQuestions: drawn[questions]
  }
}

const defaults: Choices = { capacitySteps: 5, perQuestionCap: 10, failures: "own", questions: "distinct" }

/** Provides {@link make}. Fails with `InvalidInput` on options out of range. */
export const layer = (choices: Partial<Choices> = {}): Layer.Layer<ReplayBuffer, InvalidInput.InvalidInput> =>
  Layer.effect(
    ReplayBuffer,
    Attempt.attempt(() => make(choices))
  )

/** The capacity of a buffer. */
export type Capacity = Pick<Choices, "capacitySteps" | "perQuestionCap">

/** The buffer after the experiences of step `step`, as in {@link Interface.add}: a fold without draws. */
export const add = (
  { capacitySteps, perQuestionCap }: Capacity,
  buffer: Contents,
  step: number,
  experiences: ReadonlyArray<Experience.Experience>
): Contents => {
  assertNew(buffer, step, experiences)
  const recent = within(capacitySteps, step, [...buffer.experiences, ...experiences])
  return perQuestionCap === null ? recent : capped(perQuestionCap, recent)
}

const assertNew = (buffer: Contents, step: number, experiences: ReadonlyArray<Experience.Experience>): void => {
  const where = "ReplayBuffer.add"
  const latest = buffer.experiences.at(-1)
  if (latest !== undefined && step <= latest.step)
    InvalidInput.refuse({
      where,
      field: "step",
      value: step,
      expected: `a step after ${latest.step}, which is remembered`
    })
  for (const experience of experiences)
    if (experience.step !== step)
      InvalidInput.refuse({
        where,
        field: `step of ${experience.trajectoryId}`,
        value: experience.step,
        expected: `${step}`
      })
  InvalidInput.assertRewards(
    where,
    "rewards",
    experiences.map(({ reward }) => reward)
  )
}

/**
 * The recorded mean reward of an instruction on these questions; none if it was asked none of them. Every question
 * counts once per mention, with the mean of the instruction's rewards on it.
 */
export const storedMean = (
  buffer: Contents,
  instruction: Instruction.InstructionId,
  questions: ReadonlyArray<Question.QuestionId>
): Option.Option<number> => {
  const rewards = Arr.groupBy(
    buffer.experiences.filter((experience) => experience.instructionId === instruction),
    (experience) => experience.questionId
  )
  const means = questions.flatMap((id) => {
    const met = rewards[id]
    return met === undefined ? [] : [met.reduce((sum, experience) => sum + experience.reward, 0) / met.length]
  })
  return means.length === 0 ? Option.none() : Option.some(means.reduce((sum, mean) => sum + mean, 0) / means.length)
}

const anyFailures: Interface["failures"] = (buffer, request) => {
  const latest = buffer.experiences.reduce((step, experience) => Math.max(step, experience.step), -Infinity)
  const failed = buffer.experiences.filter((experience) => experience.step === latest && fails(experience, request))
  return Arr.take(RandomStream.make(request.seed, request.path).shuffle(failed), request.count)
}

const ownFailures: Interface["failures"] = (buffer, request) => {
  const own = buffer.experiences.filter(
    (experience) => experience.instructionId === request.parent && fails(experience, request)
  )
  const [firsts, repeats] = splitRepeats(latestFirst(own, request))
  return [...firsts, ...repeats].slice(0, request.count)
}

const uniformQuestions: Interface["verificationQuestions"] = ({ experiences }, { path, samples, seed }) => {
  const stream = RandomStream.make(seed, path)
  return Arr.isReadonlyArrayNonEmpty(experiences)
    ? Array.from({ length: samples }, () => stream.choice(experiences).questionId)
    : []
}

const subsetQuestions: Interface["verificationQuestions"] = ({ experiences }, { path, samples, seed }) =>
  Arr.take(RandomStream.make(seed, path).shuffle(Arr.dedupe(experiences.map(({ questionId }) => questionId))), samples)

const distinctQuestions: Interface["verificationQuestions"] = (buffer, request) => {
  const excluded = new Set(request.exclude)
  const [firsts] = splitRepeats(
    latestFirst(
      buffer.experiences.filter((experience) => !excluded.has(experience.questionId)),
      request
    )
  )
  return firsts.slice(0, request.samples).map((experience) => experience.questionId)
}

const drawn = { uniform: uniformQuestions, subset: subsetQuestions, distinct: distinctQuestions } as const

const fails = (experience: Experience.Experience, request: FailuresRequest): boolean =>
  experience.reward < request.threshold

const within = (steps: number, now: number, experiences: ReadonlyArray<Experience.Experience>): Contents => ({
  experiences: experiences.filter((experience) => experience.step > now - steps)
})

const capped = (cap: number, buffer: Contents): Contents => {
  const surplus = new Set(
    Object.values(Arr.groupBy(buffer.experiences, (experience) => experience.questionId)).flatMap((experiences) =>
      experiences.length > cap ? experiences.toSorted(byWorth).slice(cap) : []
    )
  )
  return surplus.size === 0
    ? buffer
    : { experiences: buffer.experiences.filter((experience) => !surplus.has(experience)) }
}

const byRecency: Order.Order<Experience.Experience> = Order.flip(
  Order.mapInput(Order.Number, (experience) => experience.step)
)

const byWorth: Order.Order<Experience.Experience> = Order.combine(
  byRecency,
  Order.mapInput(Order.Number, (experience) => experience.reward)
)

/** Latest step first, in random order within a step. */
const latestFirst = (
  experiences: ReadonlyArray<Experience.Experience>,
  stream: { readonly seed: number; readonly path: RandomStream.StreamPath }
): ReadonlyArray<Experience.Experience> =>
  RandomStream.make(stream.seed, stream.path).shuffle(experiences).sort(byRecency)

/** The first experience of each question, and all others, in order. */
const splitRepeats = (
  experiences: ReadonlyArray<Experience.Experience>
): readonly [firsts: ReadonlyArray<Experience.Experience>, repeats: ReadonlyArray<Experience.Experience>] => {
  const firsts = new Set(
    new Map(experiences.toReversed().map((experience) => [experience.questionId, experience])).values()
  )
  return [
    experiences.filter((experience) => firsts.has(experience)),
    experiences.filter((experience) => !firsts.has(experience))
  ]
}
