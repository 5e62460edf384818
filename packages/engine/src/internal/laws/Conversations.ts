import { Effect } from "effect"
import type { Datum, Engine, SampleRequest, TrainRequest } from "../../Engine.ts"
import type { Settings } from "./Law.ts"

export interface Conversation {
  readonly prompt: ReadonlyArray<number>
  readonly response: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  /** 1 on sampled tokens, 0 on observations. */
  readonly mask: ReadonlyArray<number>
}

/** Requests with different prompts, lengths, seeds and temperatures. */
export const requests = (engine: Engine.Interface, { maxTokens }: Settings): ReadonlyArray<SampleRequest> =>
  contents.map((content, index) => ({
    prompt: engine.tokenizer.prompt([{ role: "user", content }]),
    n: 1 + (index % 3),
    stop: [],
    maxTokens: maxTokens - index,
    temperature: index === 1 ? 0.7 : 1,
    topP: index === 2 ? 0.9 : 1,
    seed: `conformance/${index}`
  }))

/** Two turns of a search agent: what was sampled, an observation, and what was sampled after it. */
export const conversations = Effect.fnUntraced(function* (engine: Engine.Interface, settings: Settings) {
  const first = requests(engine, settings).map((request) => ({ ...request, n: 2, temperature: 1, topP: 1 }))
  const turns = yield* engine.sample(first)
  const open = first.flatMap((request, index) =>
    (turns[index]?.sequences ?? []).map((turn) => ({
      request,
      turn,
      observation: engine.tokenizer.encode(observation)
    }))
  )
  const answers = yield* engine.sample(
    open.map(({ request, turn, observation }, index) => ({
      ...request,
      n: 1,
      seed: `conformance/second/${index}`,
      prompt: [...request.prompt, ...turn.tokens, ...observation]
    }))
  )
  return open.map(({ request, turn, observation }, index): Conversation => {
    const answer = answers[index]?.sequences[0] ?? { tokens: [], logprobs: [], stopReason: "length" }
    const none = observation.map(() => 0)
    return {
      prompt: request.prompt,
      response: [...turn.tokens, ...observation, ...answer.tokens],
      logprobs: [...turn.logprobs, ...none, ...answer.logprobs],
      mask: [...turn.tokens.map(() => 1), ...none, ...answer.tokens.map(() => 1)]
    }
  })
})

/** Log-probabilities of the sampled tokens, under the current policy. */
export const score = (engine: Engine.Interface, conversations: ReadonlyArray<Conversation>) =>
  Effect.map(engine.score("current", conversations), (scores) =>
    scores.map((logprobs, index) => masked(logprobs, conversations[index]))
  )

/** A training step on datums. */
export const training = (
  datums: ReadonlyArray<Datum>,
  key: string,
  { learningRate }: Settings,
  klCoefficient = 0
): TrainRequest => ({
  key,
  datums,
  loss: { clipRatio: 0.2, klCoefficient },
  optimizer: { learningRate, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
})

/** A conversation to learn from, with one advantage for all its sampled tokens. */
export const datum =
  (advantage: number) =>
  (conversation: Conversation): Datum => ({
    prompt: conversation.prompt,
    response: conversation.response,
    logprobs: conversation.logprobs,
    advantages: conversation.mask.map((bit) => advantage * bit),
    weights: conversation.mask.map((bit) => bit / conversation.mask.length)
  })

/** The values of sampled tokens. */
export const masked = (values: ReadonlyArray<number>, conversation: Conversation | undefined): ReadonlyArray<number> =>
  values.filter((_, at) => conversation?.mask[at] === 1)

/** Largest difference between parallel lists; infinite when their lengths differ. */
export const distance = (a: ReadonlyArray<number>, b: ReadonlyArray<number> | undefined): number =>
  a.length === b?.length ? a.reduce((most, value, at) => Math.max(most, Math.abs(value - (b[at] ?? NaN))), 0) : Infinity

const contents = [
  "Who was born in the Bay?",
  "Question: The mayor of",
  "Answer",
  "Is a b c? Is a b d?",
  "Is a b c? Is a b e"
]

const observation = " The mayor is born in the Bay."
