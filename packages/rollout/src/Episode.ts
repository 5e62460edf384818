/**
 * One episode, from its question to its end. The program of an agent plays it: it waits for the policy or a tool at each step, and
 * {@link start} and {@link Playing} carry it from one step to the next. Many episodes at once are scheduled in `Rollout.ts`.
 */
import { type Instruction, Problem, type Question, type Trajectory } from "@inspo/domain"
import type { SampledSequence, SampleRequest, Tokenizer } from "@inspo/engine"
import { Schema } from "effect"
import type { ChatAnswer, ChatRequest } from "./ChatPolicy.ts"
import type { Demonstration } from "./Demonstration.ts"
import type { Recorded } from "./Transcription.ts"
import type { Reply } from "./Tool.ts"

/**
 * One planned attempt: the policy on a question under an instruction. `seed` decides every draw of the attempt, so
 * the members of a group differ in it; `member` is its place in its group, if it has one. The turns of a `demonstration` replace
 * those that the policy would write.
 */
export interface Episode {
  readonly id: Trajectory.TrajectoryId
  readonly instruction: Instruction.Instruction
  readonly question: Question.Question
  readonly seed: string
  readonly member?: number
  readonly demonstration?: Demonstration
}

/**
 * A program that plays one episode, as a generator: `yield*` on a method of its conversation waits for the policy or a tool;
 * concurrent episodes are sampled together. All else in it must be pure. An agent's program returns why its episode is over.
 */
export type Program<A = Ending> = Generator<Step, A, Answer>

/** Why an episode is over, unless its environment failed. */
export type Ending = Exclude<Trajectory.FinishReason, "failed">

/** What a program waits for. Agents see it only in the types: the conversation takes the steps. */
export type Step = Sample | Ask | Call | End

/** The policy has to write. A request is for one sequence. */
export interface Sample {
  readonly _tag: "Sample"
  readonly request: SampleRequest
}

/** A chat model has to write the next message. `key` names the answer within the rollouts of a run. */
export interface Ask {
  readonly _tag: "Ask"
  readonly key: string
  readonly request: ChatRequest
}

/** A tool has to reply; one that fails for good ends the episode as failed. */
export interface Call {
  readonly _tag: "Call"
  readonly tool: string
  readonly input: string
}

/** The episode is over, whatever its agent would do next. `failure` says what failed one that is `failed`. */
export interface End {
  readonly _tag: "End"
  readonly reason: Trajectory.FinishReason
  readonly failure?: string
}

/** An agent threw an exception. */
export interface Thrown {
  readonly _tag: "Thrown"
  readonly cause: unknown
}

/** The answer to a sample, a question to a chat model, or a call. */
export type Answer =
  | { readonly _tag: "Sampled"; readonly sequence: SampledSequence }
  | { readonly _tag: "Written"; readonly written: ChatAnswer }
  | { readonly _tag: "Replied"; readonly reply: Reply }

export function* sample(request: SampleRequest): Program<SampledSequence> {
  const answer = yield { _tag: "Sample", request }
  if (answer._tag !== "Sampled") throw new TypeError("a sample was answered by something else")
  return answer.sequence
}

export function* ask(key: string, request: ChatRequest): Program<ChatAnswer> {
  const answer = yield { _tag: "Ask", key, request }
  if (answer._tag !== "Written") throw new TypeError("a question to a chat model was answered by something else")
  return answer.written
}

export function* call(tool: string, input: string): Program<Reply> {
  const answer = yield { _tag: "Call", tool, input }
  if (answer._tag !== "Replied") throw new TypeError(`a call of ${tool} was answered by the policy`)
  return answer.reply
}

/** Is never resumed. */
export function* end(reason: Ending): Program<never> {
  for (;;) yield { _tag: "End", reason }
}

/** An episode that is being played, or is over; `index` is its place among those collected together. */
export interface Playing<S extends Step | Thrown = Step | Thrown> extends Recorded {
  readonly index: number
  readonly episode: Episode
  /** What its program waits for. */
  readonly step: S
  /** Whether the log-probabilities of its turns have yet to be found. */
  readonly isRescored: boolean
  readonly resume: (answer: Answer) => void
  /** Ends it after a failure of its environment. */
  readonly fail: (failure: string) => void
}

/** Runs the program of an episode to its first step. */
export const start = (
  program: Program,
  { read, recording }: Recorded,
  episode: Pick<Playing, "episode" | "index" | "isRescored">
): Playing => {
  let step = take(program)
  return {
    ...episode,
    get step() {
      return step
    },
    recording,
    read,
    resume: (answer) => {
      step = take(program, answer)
    },
    fail: (failure) => {
      step = { _tag: "End", reason: "failed", failure }
    }
  }
}

/**
 * A program whose turns are those of a demonstration: nothing is sampled, but tools are called. A turn is cut at the
 * limit of sampled ones; after the last turn the episode is over.
 */
export function* demonstrated(tokenizer: Tokenizer, turns: Demonstration, program: Program): Program {
  const left = turns.values()
  let next = program.next()
  while (next.done !== true) {
    if (next.value._tag === "Sample") {
      const turn = left.next()
      if (turn.done === true) return "turns-exhausted"
      const tokens = tokenizer.encode(turn.value).slice(0, next.value.request.maxTokens)
      const sequence = { tokens, logprobs: tokens.map(() => 0), stopReason: "stop" as const }
      next = program.next({ _tag: "Sampled", sequence })
    } else next = program.next(yield next.value)
  }
  return next.value
}

export const isOver = (playing: Playing): playing is Playing<End> => playing.step._tag === "End"

/** The episodes could not be run: a setting or an answer of the engine is not as expected. */
export class RolloutError extends Schema.TaggedError<RolloutError>()("RolloutError", Problem.fields) {
  override get message() {
    return `rollout: ${Problem.words(this)}`
  }
}

/** The exception of an agent, as the defect of its collection. */
export const defect = ({ episode, step }: Playing<Thrown>): Error =>
  new Error(`agent: threw an exception in the episode ${episode.id}`, { cause: step.cause })

const take = (program: Program, ...answer: [] | [Answer]): Step | Thrown => {
  try {
    const { done, value } = program.next(...answer)
    return done === true ? { _tag: "End", reason: value } : value
  } catch (cause) {
    return { _tag: "Thrown", cause }
  }
}
