/** From the answers of an episode to what is trained: segments in which each sampled token is an action token once. */
import { Trajectory } from "@inspo/domain"
import type { Tokenizer } from "@inspo/engine"
import type { Transcription } from "@inspo/rollout"
import { Array as Arr } from "effect"
import { type Answer, tokensOf } from "./Context.ts"

/**
 * The recording of these answers. An answer continues the segment of the answer that its context begins with; of several, the first
 * by their tokens does, and the others begin segments. So segments do not depend on the order of calls, nor does their order on
 * which of the calls that were made at once was answered first.
 */
export const recording = (answers: ReadonlyArray<Answer>, tokenizer: Tokenizer): Transcription.Recording => {
  const chains = chainsOf(answers)
  const segments = chains.map(segment)
  const last = chains.at(-1)?.at(-1)
  return {
    ...(Arr.isReadonlyArrayNonEmpty(segments) ? Trajectory.ofSegments(segments) : nothing),
    transcript: chains.flatMap((chain, index) => turnsOf(chain, index === 0, last, tokenizer)),
    toolCalls: answers.reduce((sum, { choice }) => sum + choice.calls.length, 0),
    asideTokens: 0
  }
}

type Chain = Arr.NonEmptyReadonlyArray<Answer>

/** The answers of each segment, in order. */
const chainsOf = (answers: ReadonlyArray<Answer>): ReadonlyArray<Chain> => {
  const next = new Map<Answer, Answer>()
  const firsts = answers.toSorted(byTokens).filter((answer) => {
    const { parent } = answer.context
    if (parent === null || next.has(parent)) return true
    next.set(parent, answer)
    return false
  })
  // By what was known when they were asked for.
  return firsts
    .toSorted((one, other) => one.rank - other.rank)
    .map((first) => {
      const chain = Arr.of(first)
      for (let at = next.get(first); at !== undefined; at = next.get(at)) chain.push(at)
      return chain
    })
}

const byTokens = (one: Answer, other: Answer): number =>
  compare(tokensOf(one.context), tokensOf(other.context)) || one.ordinal - other.ordinal

const compare = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const at = one.findIndex((token, index) => token !== other[index])
  return at < 0 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? -1)
}

const segment = ([first, ...later]: Chain): Trajectory.Segment => {
  const parts = [
    { observed: [], answer: first },
    ...later.map((answer) => ({ observed: answer.context.observed, answer }))
  ]
  return {
    prompt: tokensOf(first.context),
    response: parts.flatMap(({ answer, observed }) => [...observed, ...answer.tokens]),
    logprobs: parts.flatMap(({ answer, observed }) => [...observed.map(() => 0), ...answer.logprobs]),
    mask: parts.flatMap(({ answer, observed }) => [
      ...observed.map(() => 0 as const),
      ...answer.tokens.map(() => 1 as const)
    ])
  }
}

/** The turns of a segment; a message that is not the last, and calls nothing, is a `message`. */
const turnsOf = (
  chain: Chain,
  isFirst: boolean,
  last: Answer | undefined,
  { decode }: Tokenizer
): ReadonlyArray<Trajectory.Turn> =>
  chain.map((answer, index) => {
    const { calls, content } = answer.choice
    const [call] = calls
    const next = chain[index + 1]
    return {
      text: decode(answer.tokens),
      action:
        call === undefined
          ? { kind: answer === last ? "answer" : "message", content }
          : { kind: call.name, content: JSON.stringify(call.input) },
      observation: next === undefined ? null : decode(next.context.observed),
      ...(isFirst || index > 0 ? {} : { prompt: decode(tokensOf(answer.context)) })
    }
  })

const nothing: Trajectory.Segment = { prompt: [], response: [], logprobs: [], mask: [] }
