import type { Trajectory } from "@inspo/domain"
import type { SampledSequence, SampleRequest } from "@inspo/engine"
import type { ChatAnswer, ChatRequest } from "./ChatPolicy.ts"
import type { Reply } from "./Tool.ts"

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
