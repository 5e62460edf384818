import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Schema } from "effect"
import { request } from "../../src/agents/Lookahead.ts"
import { play } from "../support/Play.ts"

const Width = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
const Depth = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))

const isValue = (prompt: string) => prompt.includes(request)

/** The searches in a prompt, without those that the environment repeats. */
const path = (prompt: string) => [...prompt.matchAll(/<search> (\d+)<\/search>/gu)].map(([, at]) => Number(at))

/** A tree of searches: the k-th draft of a turn searches for k, and the value of a path is exact. */
const world = (width: number, valueOf: (path: ReadonlyArray<number>) => number) => {
  let draft = 0
  return (prompt: string) => {
    if (isValue(prompt)) return `${valueOf(path(prompt))}`
    return `<search> ${draft++ % width}</search>`
  }
}

describe("lookahead", () => {
  it.effect.prop(
    "is search-r1 with depth 0",
    {
      texts: Schema.NonEmptyArray(Schema.Literals(["<search> a</search>", "No tags.", "<answer> Ostrel Bay</answer>"]))
    },
    ({ texts }) =>
      Effect.gen(function* () {
        const script = (_: string, { seed }: { readonly seed: string }) =>
          texts[Number(seed.split("/").at(-1)) % texts.length] ?? ""
        const greedy = yield* play(script, { config: { agent: { name: "lookahead", width: 3, depth: 0 } } })
        assert.deepStrictEqual(greedy, yield* play(script, { config: { agent: "search-r1" } }))
      })
  )

  it.effect.prop(
    "takes the first turn of the best path if values are exact, and asks for at most width ^ depth of them a turn",
    {
      width: Width,
      depth: Depth,
      values: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })))
    },
    ({ depth, values, width }) =>
      Effect.gen(function* () {
        const valueOf = (path: ReadonlyArray<number>) =>
          values[path.reduce((at, step) => at * width + step, 0) % values.length] ?? 0
        const { prompts, trajectories } = yield* play(world(width, valueOf), {
          config: {
            agent: { name: "lookahead", width, depth },
            maxTurns: depth,
            maxResponseTokens: 64,
            maxObservationTokens: 64
          },
          contextLength: 65536
        })
        const paths = (length: number): ReadonlyArray<ReadonlyArray<number>> =>
          length === 0
            ? [[]]
            : paths(length - 1).flatMap((path) => Arr.range(0, width - 1).map((step) => [...path, step]))
        const best = Math.max(...paths(depth).map(valueOf))
        const expected = paths(depth).find((path) => valueOf(path) === best)?.[0]
        const { asideTokens = 0, transcript } = trajectories[0] ?? assert.fail()
        assert.strictEqual(Number(transcript[0]?.action.content), expected)
        assert.isAtMost(prompts.filter(isValue).length, (depth + 1) * width ** depth)
        assert.isAbove(asideTokens, 0)
      })
  )

  it.effect("takes in its last turn an answer, whatever a call would be worth", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* play(
        (prompt, { seed }) =>
          isValue(prompt)
            ? prompt.includes("Ostrel Bay")
              ? "1"
              : "9"
            : seed.endsWith("draft-1")
              ? "<answer> Ostrel Bay</answer>"
              : "<search> mayor</search>",
        { config: { agent: { name: "lookahead", width: 2, depth: 1 }, maxTurns: 1 }, contextLength: 65536 }
      )
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        [one.finishReason, one.transcript.map(({ action }) => action.kind), one.toolCalls],
        ["answered", ["search", "answer"], 1]
      )
    })
  )
})
