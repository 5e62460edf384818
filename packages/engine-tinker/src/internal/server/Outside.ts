import type { Sequence } from "@inspo/engine"
import { Effect } from "effect"
import type { Target } from "./Target.ts"
import { refuse } from "./Refusal.ts"

/**
 * The log-probabilities of targets at all positions of their inputs, those included that do not count: before the first one
 * that does, and where the target is not the next token of the input. The result completes, for target number `index`,
 * what is known of its response. What several targets share is scored once, and at most `most` tokens are.
 */
export const logprobs = Effect.fnUntraced(function* <E>(
  score: (sequences: ReadonlyArray<Sequence>) => Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, E>,
  targets: ReadonlyArray<Target>,
  most: number
) {
  const wanted = new Map<string, Sequence>()
  let tokens = 0
  for (const target of targets) {
    yield* Effect.yieldNow
    for (const sequence of outsideOf(target)) {
      const key = keyOf(sequence)
      if (wanted.has(key)) continue
      wanted.set(key, sequence)
      tokens += sequence.prompt.length + sequence.response.length
      if (tokens > most)
        return yield* refuse(
          `the targets before the first that counts, or that are not the next token, take more than ${most} tokens to score, ` +
            "expected fewer: send fewer datums at once"
        )
    }
  }
  const scores = wanted.size === 0 ? [] : yield* score(Array.from(wanted.values()))
  const known = new Map(Array.from(wanted.keys(), (key, at) => [key, scores[at] ?? []]))
  return (index: number, response: ReadonlyArray<number>): ReadonlyArray<number> => {
    const target = targets[index]
    if (target === undefined) return response
    const whole = (known.get(keyOf(before(target))) ?? []).concat(response)
    for (const { index: at, token } of target.strays)
      whole[at] = known.get(keyOf(instead(target, at, token)))?.[0] ?? NaN
    return whole
  }
})

function* outsideOf(target: Target): Generator<Sequence> {
  if (target.prompt.length > 1) yield before(target)
  for (const { index, token } of target.strays) yield instead(target, index, token)
}

/** The prompt, given its first token. */
const before = ({ prompt }: Target): Sequence => ({ prompt: prompt.slice(0, 1), response: prompt.slice(1) })

/** Another token than the one that follows position `index` of the input. */
const instead = ({ prompt, response }: Target, index: number, token: number): Sequence => ({
  prompt: [...prompt, ...response].slice(0, index + 1),
  response: [token]
})

const keyOf = ({ prompt, response }: Sequence): string => `${prompt.join()};${response.join()}`
