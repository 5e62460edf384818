import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { PrefixCache } from "../../src/internal/PrefixCache.ts"
import { type Job, plan } from "../../src/internal/PrefixPlan.ts"

/** Prompts over two tokens often begin with one another. */
const Prompt = Schema.NonEmptyArray(Schema.Literals([1, 2])).check(Schema.isMaxLength(4))
/** Lengths of a common beginning: shorter and longer than what is worth sharing. */
const SharedLength = Schema.Literals([0, 3, 8, 20])
const Request = Schema.Struct({
  prompt: Prompt,
  samples: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
})
const Requests = Schema.Array(Request).check(Schema.isMaxLength(6))

const keyValues = [new SharedArrayBuffer(4), new SharedArrayBuffer(8)] as const

describe("PrefixPlan", () => {
  it.prop(
    "takes every prompt exactly, once per sample or once for all",
    [SharedLength, Requests, Schema.Boolean],
    ([length, all, cached]) => {
      const shared = Array.from({ length }, () => 3)
      const requests = all.map(({ prompt, samples }, index) => ({
        prompt: [...shared, ...prompt],
        samples,
        cached:
          cached && shared.length > 0 && index % 3 < 2
            ? { length: shared.length, keyValues: keyValues[index % 3 === 0 ? 0 : 1] }
            : null
      }))
      const jobs = plan(requests)
      const promptOf = (job: Job) => requests[job.request]?.prompt ?? []
      let taken = 0
      jobs.forEach((job, index) => {
        const parent = job.parent === null ? undefined : jobs[job.parent]
        if (job.parent !== null) {
          assert.isBelow(job.parent, index)
          assert.strictEqual(parent?.sample, null)
        }
        assert.strictEqual(job.start, parent?.end ?? requests[job.request]?.cached?.length ?? 0)
        // What the parent has taken is what this job's prompt starts with.
        if (parent !== undefined)
          assert.deepStrictEqual(promptOf(parent).slice(0, job.start), promptOf(job).slice(0, job.start))
        assert.isAtLeast(job.end, job.start)
        if (job.sample !== null) assert.strictEqual(job.end, promptOf(job).length - 1)
        taken += job.end - job.start
      })
      const samples = jobs.flatMap(({ request, sample }) => (sample === null ? [] : [`${request}/${sample}`]))
      const expected = requests.flatMap(({ samples }, request) =>
        Array.from({ length: samples }, (_, sample) => `${request}/${sample}`)
      )
      assert.sameMembers(samples, expected)
      assert.lengthOf(samples, expected.length)
      const alone = requests.reduce((sum, r) => sum + r.samples * (r.prompt.length - 1 - (r.cached?.length ?? 0)), 0)
      assert.isAtMost(taken, alone)
    }
  )

  it("takes a long shared prefix once", () => {
    const prefix = Array.from({ length: 50 }, (_, index) => index)
    const requests = [61, 62, 63].map((token) => ({ prompt: [...prefix, token, 7], samples: 5, cached: null }))
    const jobs = plan(requests)
    assert.deepStrictEqual(jobs[0], { parent: null, request: 0, start: 0, end: 50, sample: null })
    assert.lengthOf(jobs, 16)
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
    "drops the oldest beyond its capacity",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))],
    ([capacity]) => {
      const cache = new PrefixCache(capacity)
      const sequences = Array.from({ length: 10 }, (_, index) => [index, index])
      for (const tokens of sequences) cache.add({ tokens, keyValues: keyValues[0] })
      sequences.forEach((tokens, index) => {
        assert.strictEqual(cache.longestPrefix([...tokens, 0]) !== undefined, index >= 10 - Math.floor(capacity / 2))
      })
    }
  )
})
