/** Trains a policy to act without its instruction, on rollouts that it made with the instruction and was rewarded for. */
import { type Instruction, Invariant, type Question, RandomStream, Trajectory } from "@inspo/domain"
import { Engine, type EngineError, type Tokenizer } from "@inspo/engine"
import { GrpoBatch } from "@inspo/policy-gradient"
import { Rollout, type RolloutError } from "@inspo/rollout"
import { QuestionStream } from "@inspo/sampler"
import { Array as Arr, Effect } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import type { ClauseText } from "./ClauseTexts.ts"
import { likelihoodOf } from "./Method.ts"

export interface Options {
  readonly algorithm: Algorithm
  /** The instruction that the policy is to act under, such as the seed of its run. */
  readonly instruction: Instruction.Instruction
  /** Rollouts under another instruction. Each is weighted by its reward. */
  readonly rewarded: Arr.NonEmptyReadonlyArray<Trajectory.Trajectory>
  /** The questions of these rollouts. */
  readonly questions: ReadonlyMap<Question.QuestionId, Question.Question>
  /** Optimizer steps, at the peak learning rate of the run, of `train.batchSize` rollouts each. */
  readonly updates: number
  /** Texts about the clauses of that instruction; each is in at least one update. */
  readonly texts?: ReadonlyArray<ClauseText>
  /** Called with the number of updates so far. */
  readonly onUpdate?: (made: number) => Effect.Effect<void>
}

/**
 * Changes the engine's policy, and returns the mean log-probability of the tokens of each update's rollouts before it. Each rollout
 * keeps its turns and observations; its prompt is the one under `instruction`. Where an agent rewrites its context, its turns are
 * played again, tools included, for the prompts of its segments; a segment that does not come about is left out. The update maximises their likelihood, without a KL
 * term. Equal options give equal requests.
 *
 * This distils the context into the weights, as in Askell et al. (2021), "A General Language Assistant as a Laboratory for
 * Alignment", on hard targets: the policy's own rewarded turns, as in rejection sampling.
 */
export const internalize = Effect.fn("Internalizing.internalize")(function* ({
  algorithm,
  instruction,
  onUpdate = () => Effect.void,
  questions,
  rewarded,
  texts = [],
  updates
}: Options): Effect.fn.Return<ReadonlyArray<number>, EngineError | RolloutError, Engine | Rollout> {
  yield* Effect.annotateCurrentSpan({ instruction: instruction.id, rollouts: rewarded.length, updates })
  const engine = yield* Engine
  const prompts = yield* promptsOf(instruction, rewarded, questions)
  const { randomSeed, train } = algorithm
  const size = Math.min(train.batchSize, rewarded.length)
  const perUpdate = Math.ceil(texts.length / Math.max(1, updates))
  const likelihoods: Array<number> = []
  for (let update = 1; update <= updates; update++) {
    const rollouts = QuestionStream.batch({
      seed: randomSeed,
      step: update,
      batchSize: size,
      size: rewarded.length
    }).map((index) => {
      const one = Invariant.at(rewarded, index, "rollout")
      const segments = Arr.zipWith(
        Trajectory.segments(one),
        Invariant.get(prompts, nameOf(one), "prompts"),
        (segment, { prompt }) => ({ ...segment, prompt })
      )
      return { one, segments }
    })
    const explained = Array.from({ length: perUpdate }, (_, index) => {
      const text = Invariant.at(texts, ((update - 1) * perUpdate + index) % texts.length, "text")
      return { one: { ...rewarded[0], reward: 1 }, segments: Arr.of(segmentOf(engine.tokenizer, text)) }
    })
    const chosen = [...rollouts, ...explained]
    const scores = yield* engine.score(
      "current",
      chosen.flatMap(({ segments }) => segments)
    )
    const left = scores.values()
    const scored = (segment: Trajectory.Segment): Trajectory.Segment => {
      const logprobs = left.next().value ?? []
      const own = (isAction: 0 | 1, token: number) =>
        isAction === 1 ? Invariant.at(logprobs, token, "log-probability") : 0
      return { ...segment, logprobs: segment.mask.map(own) }
    }
    const batch = chosen.map(({ one: { instructionId, questionId, reward }, segments }) => ({
      instructionId,
      questionId,
      reward,
      ...Trajectory.ofSegments(Arr.map(segments, scored))
    }))
    likelihoods.push(meanLogprob(Arr.take(batch, size).flatMap(Trajectory.segments)))
    const requests = GrpoBatch.trainRequests(
      batch,
      { ...train, ...likelihoodOf, miniBatch: once(batch.length) },
      { key: `internalize/${update}`, learningRate: train.learningRate }
    )
    yield* Effect.forEach(requests, engine.train, { discard: true })
    yield* onUpdate(update)
  }
  return likelihoods
})

/** A text as a conversation in which all of the answer is the policy's. */
const segmentOf = (tokenizer: Tokenizer, { answer, question }: ClauseText): Trajectory.Segment => {
  const response = [...tokenizer.encode(answer), tokenizer.endOfSequence]
  return {
    prompt: tokenizer.prompt([{ role: "user", content: question }]),
    response,
    logprobs: response.map(() => 0),
    mask: response.map(() => 1)
  }
}

/** What rollouts with equal prompts under an instruction share: their question, or their turns. */
const nameOf = ({ earlier, id, questionId }: Trajectory.Trajectory): string =>
  earlier === undefined ? `question ${questionId}` : `trajectory ${id}`

/** The prompts of rollouts under an instruction: those of episodes in which nothing is done, or the same turns are taken. */
const promptsOf = Effect.fnUntraced(function* (
  instruction: Instruction.Instruction,
  rewarded: Options["rewarded"],
  questions: Options["questions"]
) {
  const rollout = yield* Rollout
  const asked = [...new Map(rewarded.map((one) => [nameOf(one), one])).values()]
  const begun = yield* rollout.collect(
    asked.map(({ earlier, questionId, transcript }, index) => ({
      id: Trajectory.TrajectoryId.make(`internalize/0/${index}/0`),
      instruction,
      question: Invariant.get(questions, questionId, "question"),
      seed: RandomStream.streamSeed(0, ["internalize", index]),
      demonstration: earlier === undefined ? [] : transcript.map(({ text }) => text)
    }))
  )
  const played = Invariant.zip(asked, begun, "rollouts and their episodes")
  return new Map(played.map(([one, episode]) => [nameOf(one), Trajectory.segments(episode)]))
})

/** Each rollout once. */
const once = (size: number) => ({ name: "trajectories", size, epochs: 1 }) as const

const meanLogprob = (batch: ReadonlyArray<Trajectory.Segment>): number => {
  const tokens = Trajectory.actionTokens(batch)
  const total = batch.reduce((sum, { logprobs }) => sum + logprobs.reduce((all, one) => all + one, 0), 0)
  return tokens === 0 ? 0 : total / tokens
}
