/** @module-tag deep */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { evolve, type EvolveResult } from "../src/index.ts"
import { bad, type Case, chance, good, neutral, options, succeeds } from "./support/Agents.ts"
import { payloadsOf } from "./support/Files.ts"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-evolve-flight-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const budget = { calls: 40, usd: 1.5 }

/** A search that stops in the middle of calls, each time after so many of any kind; all cost up to a known price. */
const stopped = async (seed: number, concurrency: number, stops: ReadonlyArray<number>, usd = budget.usd) => {
  const file = join(directory, `${seed}-${concurrency}-${usd}-${stops.join("-")}.jsonl`)
  await rm(file, { force: true })
  const received = { agent: 0, score: 0, proposer: 0 }
  let paid = 0
  let result: EvolveResult<string, Case> | null = null
  for (const after of [...stops, Infinity]) {
    let left = after
    const stop = new AbortController()
    const receive = async (kind: keyof typeof received, top: number, spend: (usd: number) => void) => {
      const usd = top * chance(seed, kind, received[kind])
      received[kind] += 1
      paid += usd
      await Promise.resolve()
      if (left-- <= 0) {
        stop.abort(new Error("killed"))
        await new Promise(() => {})
      }
      spend(usd)
    }
    try {
      result = await evolve({
        ...options(budget.calls, 24),
        budget: { ...budget, usd },
        atMost: () => 0.07,
        proposalAtMost: () => 0.1,
        file,
        concurrency,
        signal: stop.signal,
        agent: async (prompt, one, { spend }) => {
          await receive("agent", 0.05, spend)
          return succeeds(prompt, one) ? "right" : "wrong"
        },
        score: async (output, _, { spend }) => {
          await receive("score", 0.02, spend)
          return Number(output === "right")
        },
        proposer: async (_, { spend }) => {
          await receive("proposer", 0.1, spend)
          return [good, bad, neutral]
            .map((one, place) => `<ins_${place + 1}>Name it. ${one}</ins_${place + 1}>`)
            .join("")
        }
      })
    } catch (error) {
      assert.isTrue(after < Infinity && error instanceof Error && error.message === "killed", String(error))
    }
  }
  if (result === null) throw new Error("expected a result")
  return { result, received, paid, file }
}

describe("calls in flight", () => {
  it("count as spent, whenever the process ends: exactly those that were made, and never beyond a budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1000 }),
        fc.constantFrom(1, 1, 3, 8),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }),
        async (seed, concurrency, stops) => {
          const { paid, received, result } = await stopped(seed, concurrency, stops)
          assert.isAtMost(received.agent, result.calls)
          assert.isAtMost(result.calls, received.agent + stops.length * (concurrency - 1))
          assert.isAtMost(result.calls, budget.calls)
          assert.isAtMost(paid, result.usd + 1e-9)
          assert.isAtMost(result.usd, budget.usd + 1e-9)
        }
      ),
      { numRuns: 8, examples: [[1, 8, [3, 11, 25]]] }
    )
  })

  it("count as the most expensive one of their kind where no price is known", async () => {
    const file = join(directory, "unpriced.jsonl")
    const stop = new AbortController()
    let calls = 0
    const shared = { ...options(60), file, concurrency: 1 }
    const first = evolve({
      ...shared,
      signal: stop.signal,
      agent: async (prompt, one, { spend }) => {
        calls += 1
        if (calls === 12) {
          stop.abort(new Error("killed"))
          await new Promise(() => {})
        }
        spend(calls === 7 ? 0.5 : 0.1)
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    await first.catch((error: unknown) => assert.include(String(error), "killed"))
    const lines: Array<unknown> = []
    const result = await evolve({ ...shared, onProgress: ({ lost }) => void lines.push(lost) })
    assert.deepStrictEqual(result.lost, { calls: 1, usd: 0.5 })
    assert.deepStrictEqual(lines[0], result.lost)
    assert.closeTo(result.usd, 10 * 0.1 + 0.5 + 0.5, 1e-9)
    assert.include(
      result.report(),
      "\n1 call was in flight when a previous process ended; their cost is unknown, counted as $0.50.\n"
    )
    // Once more, from the file alone.
    assert.deepStrictEqual((await evolve(shared)).lost, result.lost)
  })

  it("are counted although many end a search early", async () => {
    const stops = Array.from({ length: 12 }, () => 9)
    const { received, result } = await stopped(1, 8, stops, 1000)
    assert.isAtMost(result.calls, budget.calls)
    assert.isAtMost(received.agent, budget.calls)
    assert.notStrictEqual(result.verdict, "better")
    assert.notInclude(result.report(), "NaN")
  })

  it("are written together: many calls share one write", async () => {
    const file = join(directory, "batched.jsonl")
    await evolve({ ...options(60), file, concurrency: 8 })
    const lines = (await readFile(file, "utf8")).split("\n").slice(2, -1)
    const tags = (await payloadsOf(file)).map(({ _tag }) => _tag)
    assert.isBelow(lines.length, tags.length)
    const first = tags.indexOf("Obtained")
    assert.isAtLeast(tags.slice(0, first).filter((tag) => tag === "Started").length, 3)
  })
})
