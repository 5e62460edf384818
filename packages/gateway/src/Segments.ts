/** From the answers of an episode to what is trained: segments in which each sampled token is an action token once. */
import { Trajectory } from "@inspo/domain"
import type { Tokenizer } from "@inspo/engine"
import type { ActionParser, Transcription } from "@inspo/rollout"
import { Array as Arr } from "effect"
import type { FunctionCall } from "./ChatCall.ts"
import { type Answer, tokensOf } from "./Context.ts"

/**
 * The recording of these answers. An answer continues the segment of the answer that its context begins with; of several, the first
 * by their tokens does, and the others begin segments. So segments do not depend on the order of calls, nor does their order on
 * which of the calls that were made at once was answered first.
 */
export const recording = (
  answers: ReadonlyArray<Answer>,
  { decode }: Tokenizer,
  { parse }: ActionParser.Grammar
): Transcription.Recording => {
  const chains = chainsOf(answers)
  const segments = chains.map(segment)
  // As inside, a call counts once its result is seen.
  const continued = new Set(answers.flatMap(({ context }) => context.parent ?? []))
  const last = chains.at(-1)?.at(-1)
  const transcript = chains.flatMap((chain, index) =>
    turnsOf(chain, index === 0, { decode, actionOf: (answer) => actionOf(answer, answer === last, parse) })
  )
  return {
    ...(Arr.isReadonlyArrayNonEmpty(segments) ? Trajectory.ofSegments(segments) : nothing),
    transcript,
    toolCalls: [...continued].reduce((sum, answer) => sum + callsIn(answer, parse), 0),
    asideTokens: 0
  }
}

type Chain = Arr.NonEmptyReadonlyArray<Answer>

/** The answers of each segment, in order. */
const chainsOf = (answers: ReadonlyArray<Answer>): ReadonlyArray<Chain> => {
  const next = new Map<Answer, Answer>()
  for (const answer of answers) {
    const { observed, parent } = answer.context
    const known = parent === null ? undefined : next.get(parent)
    const isNext =
      known === undefined || (compare(observed, known.context.observed) || answer.ordinal - known.ordinal) < 0
    if (parent !== null && isNext) next.set(parent, answer)
  }
  const continuing = new Set(next.values())
  // By what was known when they were asked for.
  const before = (one: Answer, other: Answer): number =>
    one.rank - other.rank || compare(tokensOf(one.context), tokensOf(other.context)) || one.ordinal - other.ordinal
  return answers
    .filter((answer) => !continuing.has(answer))
    .toSorted(before)
    .map((first) => {
      const chain = Arr.of(first)
      for (let at = next.get(first); at !== undefined; at = next.get(at)) chain.push(at)
      return chain
    })
}

const compare = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const at = one.findIndex((token, index) => token !== other[index])
  return at < 0 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? -1)
}

const segment = ([first, ...later]: Chain): Trajectory.Segment => {
  const response = [...first.tokens]
  const logprobs = [...first.logprobs]
  const mask: Array<0 | 1> = first.tokens.map(() => 1)
  for (const { context, logprobs: sampled, tokens } of later) {
    for (const token of context.observed) {
      response.push(token)
      logprobs.push(0)
      mask.push(0)
    }
    for (const [index, token] of tokens.entries()) {
      response.push(token)
      logprobs.push(sampled[index] ?? 0)
      mask.push(1)
    }
  }
  return { prompt: tokensOf(first.context), response, logprobs, mask }
}

/** The turns of a segment, which are the runs of its action tokens. */
const turnsOf = (
  chain: Chain,
  isFirst: boolean,
  { actionOf, decode }: Pick<Tokenizer, "decode"> & { readonly actionOf: (answer: Answer) => Trajectory.Action }
): ReadonlyArray<Trajectory.Turn> =>
  chain.reduce<ReadonlyArray<Trajectory.Turn>>((turns, answer) => {
    const { context, tokens } = answer
    const turn = { text: decode(tokens), action: actionOf(answer), observation: null }
    const before = turns.at(-1)
    if (before === undefined) return [isFirst ? turn : { ...turn, prompt: decode(tokensOf(context)) }]
    return context.observed.length === 0
      ? [...turns.slice(0, -1), { ...before, ...turn, text: before.text + turn.text }]
      : [...turns.slice(0, -1), { ...before, observation: decode(context.observed) }, turn]
  }, [])

/** A tool call, or an action in tags as those of the agents inside; other texts are a `message`, the last one the `answer`. */
const actionOf = ({ choice }: Answer, isLast: boolean, parse: ActionParser.Grammar["parse"]): Trajectory.Action => {
  const [call] = choice.calls
  if (call !== undefined) return called(call)
  const action = parse(choice.content)
  return action.kind === "invalid" ? { kind: isLast ? "answer" : "message", content: choice.content } : action
}

const called = ({ input, name }: FunctionCall): Trajectory.Action => ({ kind: name, content: JSON.stringify(input) })

const callsIn = ({ choice }: Answer, parse: ActionParser.Grammar["parse"]): number =>
  choice.calls.length > 0 ? choice.calls.length : ["answer", "invalid"].includes(parse(choice.content).kind) ? 0 : 1

const nothing: Trajectory.Segment = { prompt: [], response: [], logprobs: [], mask: [] }
