/** @module-tag deep */
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import * as Viewing from "../src/Viewing.ts"
import { AgentFailed } from "../src/index.ts"
import { evolve } from "../src/index.ts"
import { SearchView } from "../src/SearchView.ts"
import { cases, chance, options } from "./support/Agents.ts"
import { payloadsOf, writeEvents } from "./support/Files.ts"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-course-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const read = (file: string, before: Viewing.Followed | null = null) => Effect.runPromise(Viewing.read(file, before))

const problemOf = async (file: string): Promise<string> => {
  const found = await Effect.runPromise(Effect.result(Viewing.read(file)))
  return Result.isFailure(found) ? found.failure.message : "no failure"
}

/** A search whose scores, failures and proposals vary with its seed. */
const searched = (file: string, { calls, count, seed }: { calls: number; count: number; seed: number }) =>
  evolve({
    ...options(calls, count),
    cases: cases(count).map(({ id }) => ({ id, expected: `answer ${id}` })),
    file,
    randomSeed: seed,
    concurrency: 1,
    retries: 0,
    agent: (prompt, { id }, { spend }) => {
      spend(0.01)
      if (chance(seed, prompt, id) < 0.05) throw new Error("out of reach")
      return `${chance(seed, prompt, id) < 0.6 ? "right" : "wrong"} under ${prompt}`
    },
    score: (output) => Number(output.startsWith("right")),
    proposer: ["Answer in one word.", "Ignore all rules.", "Be polite.", "Be brief.", "Say answer 3."]
  })

/** The result that the view of a finished search amounts to. */
const resultOf = (view: SearchView) => {
  const contentOf = (id: string | null) => view.tried.find((one) => one.id === id)?.content ?? null
  const { calls, callsNeeded, failures, largestPossibleGain, lost, rejected, scoreNoise, test, usd, verdict } = view
  return {
    verdict,
    largestPossibleGain,
    callsNeeded,
    calls,
    usd,
    lost,
    scoreNoise,
    rejected,
    failures,
    prompt: contentOf(view.prompt),
    gain: test?.gain ?? null,
    finalist: contentOf(test?.finalist ?? null),
    failsProtected: [],
    cases: { ...view.cases, repeated: 0 },
    tried: view.tried.map(({ cases, content, gain, parent, score }) => ({
      prompt: content,
      parent: contentOf(parent),
      score,
      cases,
      gain
    })),
    failing: view.failing.map(({ case: one, output, score }) => ({ case: one, score, output }))
  }
}

describe("the view of a search", () => {
  it("has at its end what `evolve` returned, and after each event what was known then", async () => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          calls: fc.integer({ min: 29, max: 160 }),
          count: fc.integer({ min: 10, max: 40 }),
          seed: fc.nat(1000)
        }),
        fc.array(fc.nat(1000), { maxLength: 4 }),
        async (search, cuts) => {
          const file = join(directory, `${(number += 1)}.jsonl`)
          // A round in which every call fails ends a search.
          const result = await searched(file, search).catch((error: unknown) => {
            if (!(error instanceof AgentFailed)) throw error
            return null
          })
          fc.pre(result !== null)
          const { followed, view } = await read(file)
          const { report, ...expected } = result
          assert.include(report(), "# ")
          for (const { output } of result.failing) assert.strictEqual(output, `wrong under ${result.prompt}`)
          assert.deepStrictEqual<unknown>(resultOf(view), expected)
          assert.deepStrictEqual(
            Schema.decodeUnknownSync(Schema.fromJsonString(SearchView))(JSON.stringify(view)),
            view
          )

          // Killed anywhere, and read on from there.
          const whole = await readFile(file)
          const places = cuts.map((cut) => Math.round((cut / 1000) * whole.length)).toSorted((a, b) => a - b)
          const header = whole.indexOf("\n", whole.indexOf("\n") + 1) + 1
          let before: Viewing.Followed | null = null
          for (const place of [...places.filter((one) => one >= header), whole.length]) {
            await writeFile(file, whole.subarray(0, place))
            const later = await read(file, before)
            before = later.followed
            assert.isAtMost(later.view.calls, result.calls)
            assert.strictEqual(later.view.verdict === null, later.view.phase !== "done")
          }
          assert.deepStrictEqual(before && { ...before, behind: followed.behind }, followed)
        }
      ),
      { numRuns: 10 }
    )
  })

  it("has each round once, with the members that took part in it", async () => {
    const file = join(directory, "rounds.jsonl")
    await searched(file, { calls: 200, count: 40, seed: 3 })
    const { view } = await read(file)
    assert.deepStrictEqual(
      view.rounds.map(({ round }) => round),
      view.rounds.map((_, place) => place + 1)
    )
    for (const { members, round } of view.rounds) {
      assert.approximately(
        members.reduce((sum, { chance: best }) => sum + (best ?? 0), 0),
        1,
        1e-6
      )
      const present = view.tried.filter(
        ({ enteredAfter, id, left }) => (id === "i0" || enteredAfter < round) && (left === null || left.after >= round)
      )
      assert.deepStrictEqual(members.map(({ id }) => id).toSorted(), present.map(({ id }) => id).toSorted())
    }
  })

  it("says what is wrong with a file, and where", async () => {
    const file = join(directory, "whole.jsonl")
    await searched(file, { calls: 40, count: 20, seed: 1 })
    const text = await readFile(file, "utf8")
    const lines = text.split("\n")
    const damaged = join(directory, "damaged.jsonl")
    const problem = async (content: string) => {
      await writeFile(damaged, content)
      return problemOf(damaged)
    }
    assert.include(await problem(""), "is empty; no search has begun")
    assert.include(await problem("country,expected\n"), "is not the file of a search")
    assert.include(await problem(text.replace('"version":4', '"version":3')), "has format version 3")
    assert.include(await problem(text.replace("}\n", "} ")), "line 1 is damaged")
    assert.include(await problem(lines.with(3, "{}").join("\n")), "line 4 is not what was written")
    const [begun = {}, ...events] = await payloadsOf(file)
    const rewritten = async (...payloads: ReadonlyArray<unknown>) => {
      await rm(damaged, { force: true })
      await writeEvents(damaged, payloads)
      return problemOf(damaged)
    }
    assert.include(await rewritten({ ...begun, calls: "x" }), "its first event is that of no search")
    assert.include(await rewritten({ ...begun, calls: 4 }), "budget.calls")
    assert.include(await rewritten(begun, {}), "event 1 is none of a search")
    const early = { _tag: "Evolved", event: { _tag: "EvolutionSkipped", step: 1, reason: "R" } }
    assert.include(await rewritten(begun, early), "event 1 does not follow from those before")
    const unasked = { _tag: "Answered", prompt: "i0", case: 19, sample: 7, score: 1, feedback: null, usd: 0 }
    assert.include(await rewritten(begun, ...events.slice(0, 1), unasked), "was answered, but not asked")
    assert.include(await problemOf(join(directory, "none.jsonl")), "ENOENT")
    await truncate(damaged)
    assert.include(await problemOf(damaged), "is empty")
  })
})
