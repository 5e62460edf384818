import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { PrefixCache } from "../../src/internal/PrefixCache.ts"
import { plan } from "../../src/internal/PrefixPlan.ts"

/** Prompts over two tokens often begin with one another. */
const Prompt = Schema.NonEmptyArray(Schema.Literals([1, 2])).check(Schema.isMaxLength(4))
const block = 4
/** Lengths of a common beginning: within a block, whole blocks and more. */
const SharedLength = Schema.Literals([0, 3, 4, 8, 11])
const Requests = Schema.Array(Prompt).check(Schema.isMaxLength(6))

const keyValues = [new SharedArrayBuffer(4), new SharedArrayBuffer(8)] as const

describe("PrefixPlan", () => {
  it.prop(
    "takes every prompt but its last token exactly, and what prompts share once for all",
    [SharedLength, Requests, Schema.Boolean],
    ([length, all, cached]) => {
      const shared = Array.from({ length }, () => 3)
      const requests = all.map((prompt, index) => ({
        prompt: [...shared, ...prompt],
        cached:
          cached && shared.length > 0 && index % 3 < 2
            ? { length: shared.length, keyValues: keyValues[index % 3 === 0 ? 0 : 1] }
            : null
      }))
      const { prefills, sources } = plan(requests, block)
      const promptOf = (request: number) => requests[request]?.prompt ?? []
      prefills.forEach(({ parent, request, start, end }, index) => {
        const before = parent === null ? undefined : prefills[parent]
        if (parent !== null) assert.isBelow(parent, index)
        assert.strictEqual(start, before?.end ?? requests[request]?.cached?.length ?? 0)
        assert.isAbove(end, start)
        // What a prefill leaves to others is theirs too, and they go on at the start of a block.
        if (before !== undefined) {
          assert.strictEqual(start % block, 0)
          assert.deepStrictEqual(promptOf(before.request).slice(0, start), promptOf(request).slice(0, start))
        }
      })
      sources.forEach((source, request) => {
        const end = (source === null ? requests[request]?.cached?.length : prefills[source]?.end) ?? 0
        assert.strictEqual(end, promptOf(request).length - 1)
        const taken = source === null ? request : (prefills[source]?.request ?? -1)
        assert.deepStrictEqual(promptOf(taken).slice(0, end), promptOf(request).slice(0, end))
      })
      const taken = prefills.reduce((sum, { start, end }) => sum + end - start, 0)
      assert.isAtMost(
        taken,
        requests.reduce((sum, { prompt, cached }) => sum + prompt.length - 1 - (cached?.length ?? 0), 0)
      )
    }
  )

  it("takes a long shared prefix once, up to a whole number of blocks", () => {
    const prefix = Array.from({ length: 50 }, (_, index) => index)
    const requests = [61, 62, 63].map((token) => ({ prompt: [...prefix, token, 7], cached: null }))
    assert.deepStrictEqual(plan(requests, 16), {
      prefills: [
        { parent: null, request: 0, start: 0, end: 48 },
        ...[0, 1, 2].map((request) => ({ parent: 0, request, start: 48, end: 51 }))
      ],
      sources: [1, 2, 3]
    })
  })

  it("takes equal prompts once", () => {
    const request = { prompt: [1, 2, 3, 4, 5], cached: null }
    assert.deepStrictEqual(plan([request, request], 16), {
      prefills: [{ parent: null, request: 0, start: 0, end: 4 }],
      sources: [0, 0]
    })
  })
})

describe("PrefixCache", () => {
  const Sequences = Schema.Array(Prompt).check(Schema.isMaxLength(8))

  it.prop(
    "finds the longest kept sequence that the prompt properly extends",
    [Sequences, Prompt],
    ([sequences, prompt]) => {
      const cache = new PrefixCache(1000)
      for (const tokens of sequences) cache.add({ tokens, keyValues: keyValues[0] })
      const extended = sequences.filter(
        (tokens) => tokens.length < prompt.length && tokens.every((t, at) => t === prompt[at])
      )
      const longest = extended.reduce((most, { length }) => Math.max(most, length), 0)
      assert.strictEqual(cache.longestPrefix(prompt)?.tokens.length ?? 0, longest)
      cache.clear()
      assert.isUndefined(cache.longestPrefix(prompt))
    }
  )

  it.prop(
    "drops the oldest beyond its capacity in bytes",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))],
    ([capacity]) => {
      const cache = new PrefixCache(capacity)
      const sequences = Array.from({ length: 10 }, (_, index) => [index, index])
      for (const tokens of sequences) cache.add({ tokens, keyValues: keyValues[0] })
      sequences.forEach((tokens, index) => {
        assert.strictEqual(cache.longestPrefix([...tokens, 0]) !== undefined, index >= 10 - Math.floor(capacity / 4))
      })
    }
  )
})
