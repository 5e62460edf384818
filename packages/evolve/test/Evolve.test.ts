import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type CallContext, evolve, type EvolveResult } from "../src/index.ts"
import { bad, type Case, cases, chance, good, neutral, options, succeeds } from "./support/Agents.ts"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-evolve-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Sentences that change nothing. */
const others = Array.from({ length: 11 }, (_, place) => `Think ${place + 2} times before you answer.`)

const failureOf = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error("expected a failure")
}

const messageOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await failureOf(promise)
  return error instanceof Error ? error.message : String(error)
}

interface Crash {
  readonly signal: AbortSignal
  /** Kills the search when its time has come: the agent has answered, so no call is in flight. */
  readonly beforeScore: (scoring: AbortSignal) => Promise<void>
}

/** The result of a search that is killed after each number of scores and started again, until it ends. */
const afterCrashes = async (
  crashes: ReadonlyArray<number>,
  search: (crash: Crash) => Promise<EvolveResult<string, Case>>
): Promise<EvolveResult<string, Case> | null> => {
  let result: EvolveResult<string, Case> | null = null
  for (const after of [...crashes, Infinity]) {
    let left = after
    const stop = new AbortController()
    const beforeScore: Crash["beforeScore"] = async (scoring) => {
      if (left-- > 0) return
      stop.abort(new Error("killed"))
      await new Promise((_, reject) => scoring.addEventListener("abort", () => reject(new Error("aborted"))))
    }
    try {
      result = await search({ signal: stop.signal, beforeScore })
    } catch (error) {
      assert.isTrue(after < Infinity && error instanceof Error && error.message === "killed", String(error))
    }
  }
  return result
}

describe("evolve", () => {
  it("learns lessons from prompts that differ in what they gain", async () => {
    const requests: Array<string> = []
    await evolve({
      ...options(300),
      proposerKind: "lessons",
      proposer: (request) => {
        requests.push(request)
        if (request.includes("one edit a line")) return `ADD: Lesson ${requests.length}.`
        return `<ins_1>Name the capital. ${good} ${requests.length}</ins_1>`
      }
    })
    const asked = requests.findIndex((request) => request.includes("one edit a line"))
    assert.isAbove(asked, 0)
    assert.include(requests[asked], "Name the capital.")
    assert.include(requests[asked + 1] ?? "", `- Lesson ${asked + 1}.`)
  })

  it("returns a prompt that held-out cases show to be better", async () => {
    const phases: Array<string> = []
    const result = await evolve({ ...options(300), onProgress: ({ phase }) => void phases.push(phase) })
    assert.deepStrictEqual(
      phases.filter((phase, place) => phase !== phases[place - 1]),
      ["search", "test", "done"]
    )
    assert.strictEqual(result.verdict, "better")
    assert.include(result.prompt, good)
    assert.notInclude(result.prompt, bad)
    assert.isAbove(result.gain?.lower ?? 0, 0.2)
    assert.deepStrictEqual(result.cases, { search: 30, test: 30, repeated: 0 })
    assert.isAtMost(result.calls, 300)
  })

  it("does not say that a prompt cannot be better where success is rare and it is", async () => {
    const searches = await Promise.all(
      Array.from({ length: 10 }, (_, seed) =>
        evolve({
          ...options(300, 100),
          agent: (prompt, { id }) =>
            chance("rare", seed, id, prompt) < (prompt.includes(good) ? 0.17 : 0.02) ? "right" : "wrong",
          proposer: [good, ...others],
          randomSeed: seed
        })
      )
    )
    for (const { callsNeeded, largestPossibleGain, tried, verdict } of searches) {
      if (tried.every(({ cases, prompt }) => cases === 0 || !prompt.includes(good))) continue
      assert.notStrictEqual(verdict, "no-headroom")
      assert.isAtLeast(largestPossibleGain ?? 1, 0.15)
      assert.isAbove(callsNeeded ?? Infinity, 300)
    }
  })

  it("says that no prompt can be better only where the cases show it for all together, else what would show it", async () => {
    const search = (minimalGain: number) =>
      evolve({ ...options(300, 100), agent: () => "wrong", proposer: others, minimalGain })
    const large = await search(0.5)
    assert.strictEqual(large.verdict, "no-headroom")
    assert.isAtLeast(large.tried.filter(({ cases }) => cases > 0).length, 9)
    assert.isBelow(large.largestPossibleGain ?? 1, 0.5)
    assert.isBelow(large.calls, 200)
    assert.include(large.report(), "at a risk of 5 % for all of them together")
    const small = await search(0.1)
    assert.strictEqual(small.verdict, "undecided")
    assert.isAtLeast(small.largestPossibleGain ?? 0, 0.1)
    assert.include(small.report(), `About ${small.callsNeeded} calls`)
    assert.isAbove(small.callsNeeded ?? 0, 55 * (small.tried.length - 1))
  })

  it("asks the original and the finalist in turn in the test, either one first as often", async () => {
    const asked: Array<string> = []
    const tested = await evolve({
      ...options(120),
      concurrency: 1,
      agent: (prompt, one) => {
        asked.push(`${one.id} ${prompt}`)
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    const { finalist } = tested
    assert.isNotNull(finalist)
    const last = asked.slice(-2 * tested.cases.test)
    for (let pair = 0; pair < tested.cases.test; pair++) {
      const [one = "", other = ""] = last.slice(2 * pair, 2 * pair + 2)
      assert.strictEqual(one.split(" ")[0], other.split(" ")[0])
      assert.strictEqual((pair % 2 === 0 ? other : one).endsWith(` ${finalist}`), true)
    }
  })

  it("keeps the prompt where the agent ignores it", async () => {
    const result = await evolve({ ...options(300), agent: (_, one) => (one.id % 3 === 0 ? "right" : "wrong") })
    assert.strictEqual(result.prompt, "Name the capital.")
    assert.notStrictEqual(result.verdict, "better")
    assert.isNull(result.gain)
  })

  it("returns a text that was scored, asks no pair twice in the search, and stays within the budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 29, max: 200 }),
        fc.integer({ min: 10, max: 80 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 }),
        async (calls, count, randomSeed, scores) => {
          const asked: Array<string> = []
          const result = await evolve({
            ...options(calls, count),
            randomSeed,
            agent: (prompt, { id }) => {
              asked.push(`${prompt} ${id}`)
              return prompt
            },
            score: (output, { id }) => scores[(output.length + id) % scores.length] ?? 0
          })
          assert.strictEqual(asked.length, result.calls)
          assert.isAtMost(result.calls, calls)
          assert.isTrue(asked.some((one) => one.startsWith(`${result.prompt} `)))
          assert.include(
            result.tried.map(({ prompt }) => prompt),
            result.prompt
          )
          assert.isTrue(result.verdict === "better" || result.prompt === "Name the capital.")
          if (result.finalist === null) assert.strictEqual(new Set(asked).size, asked.length)
        }
      ),
      { numRuns: 25 }
    )
  })

  it(
    "resumes after a crash between any two calls: nothing is asked twice, and the result is the same",
    { tags: "deep" },
    async () => {
      const whole = await evolve({ ...options(120), concurrency: 1 })
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }), async (crashes) => {
          const file = join(directory, `resume-${crashes.join("-")}.jsonl`)
          await rm(file, { force: true })
          const asked = new Map<string, number>()
          const result = await afterCrashes(crashes, ({ beforeScore, signal }) =>
            evolve({
              ...options(120),
              concurrency: 1,
              file,
              signal,
              score: async (output, _, context) => {
                await beforeScore(context.signal)
                return Number(output === "right")
              },
              agent: (prompt, one) => {
                const key = `${prompt} ${one.id}`
                asked.set(key, (asked.get(key) ?? 0) + 1)
                return succeeds(prompt, one) ? "right" : "wrong"
              }
            })
          )
          assert.strictEqual(result?.calls, whole.calls)
          assert.strictEqual(result?.prompt, whole.prompt)
          assert.deepStrictEqual(result?.tried, whole.tried)
          assert.strictEqual(
            [...asked.values()].reduce((sum, one) => sum + one, 0),
            whole.calls
          )
        }),
        { numRuns: 5 }
      )
    }
  )

  it(
    "scores outputs of the test three times if scores vary by themselves, and none again after a crash",
    { tags: "deep" },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 1000 }),
          fc.constantFrom(0, 0.2),
          fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 3 }),
          async (randomSeed, noise, crashes) => {
            const file = join(directory, `scores-${randomSeed}-${noise}-${crashes.join("-")}.jsonl`)
            await rm(file, { force: true })
            const scored = new Map<string, Array<number>>()
            const result = await afterCrashes(crashes, ({ beforeScore, signal }) =>
              evolve({
                ...options(120),
                randomSeed,
                file,
                concurrency: 1,
                signal,
                agent: (prompt, one) => `${succeeds(prompt, one) ? "right" : "wrong"} ${one.id} ${prompt}`,
                score: async (output, _, context) => {
                  await beforeScore(context.signal)
                  const before = scored.get(output) ?? []
                  const isWrong = chance("judge", randomSeed, output, before.length) < noise
                  const score = Number(output.startsWith("right") !== isWrong)
                  scored.set(output, [...before, score])
                  return score
                }
              })
            )
            const again = [...scored.values()].filter(({ length }) => length > 1)
            if (noise === 0) assert.isAtMost(again.length, 8)
            const differs = again.some(([first, ...others]) => others.some((one) => one !== first))
            assert.strictEqual(result?.scoreNoise !== 0, differs)
            if (!differs || result === null || result.finalist === null || result.gain === null) return
            // Only outputs of the test have three scores, and their means are what the gain is about.
            const meanOf = (prompt: string) => {
              const all = [...scored].filter(([output, { length }]) => output.endsWith(` ${prompt}`) && length === 3)
              assert.lengthOf(all, result?.cases.test ?? 0)
              return all.reduce((sum, [, scores]) => sum + scores.reduce((a, b) => a + b, 0) / 3, 0) / all.length
            }
            assert.closeTo(result.gain.mean, meanOf(result.finalist) - meanOf("Name the capital."), 1e-9)
          }
        ),
        { numRuns: 12 }
      )
    }
  )

  it("resumes only what has the same identity", async () => {
    const file = join(directory, "identity.jsonl")
    await evolve({ ...options(40), file, identity: { model: "a", limit: "1" } })
    assert.match(
      await messageOf(evolve({ ...options(40), file, identity: { model: "b", limit: "1" } })),
      /belongs to a search with other model;/
    )
    assert.match(await messageOf(evolve({ ...options(40), file })), /with other model, limit;/)
    const named = { ...options(40), file: join(directory, "named.jsonl"), identity: { prompt: "v3", cases: "set 1" } }
    await evolve(named)
    assert.match(
      await messageOf(evolve({ ...named, prompt: "Another one." })),
      /belongs to a search with other prompt;/
    )
    assert.match(await messageOf(evolve({ ...named, cases: cases(61) })), /belongs to a search with other cases;/)
  })

  it("refuses a file of another search, and says what differs", async () => {
    const file = join(directory, "other.jsonl")
    await evolve({ ...options(40), file })
    assert.match(
      await messageOf(evolve({ ...options(50), file })),
      /other\.jsonl: belongs to a search with other calls;/
    )
    await writeFile(file, "{}\n")
    assert.match(await messageOf(evolve({ ...options(40), file })), /is not the file of a search/)
  })

  it("never starts a call that could pass the budget in US dollars", async () => {
    let spent = 0
    const result = await evolve({
      ...options(300),
      budget: { calls: 300, usd: 1 },
      concurrency: 4,
      agent: async (prompt, one, { spend }: CallContext) => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        spend(0.01)
        spent += 0.01
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    assert.isAtMost(spent, 1 + 1e-9)
    assert.isAbove(spent, 0.9)
    assert.closeTo(result.usd, spent, 1e-9)
  })

  it("never passes the budget in US dollars where calls and scores cost up to a known price", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 1000 }),
        async (concurrency, seed) => {
          let spent = 0
          const pay = (spend: (usd: number) => void, ...parts: ReadonlyArray<string | number>) => {
            const usd = 0.05 * chance(seed, ...parts)
            spend(usd)
            spent += usd
          }
          const result = await evolve({
            ...options(300),
            budget: { calls: 300, usd: 1 },
            concurrency,
            atMost: () => 0.1,
            agent: async (prompt, one, { spend }: CallContext) => {
              await Promise.resolve()
              pay(spend, "call", prompt, one.id)
              return succeeds(prompt, one) ? "right" : "wrong"
            },
            score: async (output, one, { spend }) => {
              await Promise.resolve()
              pay(spend, "score", output, one.id)
              return Number(output === "right")
            }
          })
          assert.isAtMost(spent, 1)
          assert.isAbove(spent, 0.5)
          assert.closeTo(result.usd, spent, 1e-9)
        }
      ),
      { numRuns: 6 }
    )
  })

  it(
    "never passes the budget in US dollars where attempts fail or are late, and are repeated",
    { tags: "deep" },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 1, max: 1000 }),
          async (concurrency, seed) => {
            let [paid, attempts] = [0, 0]
            const late: Array<Promise<void>> = []
            const result = await evolve({
              ...options(300),
              budget: { calls: 300, usd: 1 },
              concurrency,
              retries: 3,
              retryAfter: () => 0,
              timeoutSeconds: 0.02,
              atMost: () => 0.05,
              agent: async (prompt, one, { spend }: CallContext) => {
                attempts += 1
                const luck = chance(seed, "attempt", attempts)
                const pay = (): void => {
                  paid += 0.05
                  spend(0.05)
                }
                if (luck > 0.8) {
                  const done = new Promise<void>((resolve) => setTimeout(resolve, 40)).then(pay)
                  late.push(done)
                  await done
                } else pay()
                if (luck < 0.4) throw new Error("overloaded")
                return succeeds(prompt, one) ? "right" : "wrong"
              }
            }).catch(() => null)
            await Promise.all(late)
            assert.isAtMost(paid, 1 + 1e-9)
            // Where all money goes into attempts that fail, nothing is answered.
            assert.isAtLeast(result?.usd ?? paid, paid - 1e-9)
            assert.isAtMost(result?.usd ?? 0, 1 + 1e-9)
          }
        ),
        { numRuns: 6 }
      )
    }
  )

  it("goes on where a prompt makes the agent fail, and stops where nothing is answered under the original", async () => {
    const failing = (isBroken: (prompt: string, one: Case) => boolean) =>
      evolve({
        ...options(200),
        retries: 0,
        agent: (prompt, one) => {
          if (isBroken(prompt, one)) throw Object.assign(new Error("broken"), { status: 400 })
          return succeeds(prompt, one) ? "right" : "wrong"
        }
      })
    assert.strictEqual((await failing((prompt) => prompt.includes(bad))).verdict, "better")
    assert.include(await messageOf(failing((prompt) => prompt === "Name the capital.")), "broken")
  })

  it("stops where the agent fails from some call on, and goes on where it answers again", async () => {
    const file = join(directory, "outage.jsonl")
    let [calls, isDown] = [0, true]
    const searching = () =>
      evolve({
        ...options(200),
        file,
        retries: 0,
        agent: (prompt, one) => {
          calls += 1
          if (isDown && calls > 60) throw new Error("down")
          return succeeds(prompt, one) ? "right" : "wrong"
        }
      })
    assert.include(await messageOf(searching()), "down")
    assert.isBelow(calls, 120)
    isDown = false
    const { calls: counted, verdict } = await searching()
    assert.strictEqual(verdict, "better")
    assert.isAtMost(counted, 200)
  })

  it("searches, and tests fewer cases, where US dollars allow a small part of the calls", async () => {
    const result = await evolve({
      ...options(300),
      budget: { calls: 300, usd: 0.5 },
      agent: (prompt, one, { spend }) => {
        spend(0.01)
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    assert.isAbove(result.tried.length, 1)
    assert.isAtMost(result.usd, 0.5 + 1e-9)
    assert.isAbove(result.usd, 0.4)
  })

  it.each([0.015, 0.03, 0.2])("ends where %d US dollars are too few, and says what was found", async (usd) => {
    const result = await evolve({
      ...options(300),
      budget: { calls: 300, usd },
      agent: (prompt, one, { spend }: CallContext) => {
        spend(0.01)
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    assert.isAtMost(result.usd, usd)
    assert.notStrictEqual(result.verdict, "better")
    assert.notInclude(result.report(), "NaN")
  })

  it("repeats a call that fails, after the pause that the error names, and stops where none succeeds", async () => {
    let failures = 0
    const limited = Object.assign(new Error("slow down"), { status: 429, headers: { "retry-after": "0.001" } })
    const result = await evolve({
      ...options(60),
      agent: (prompt, one, { attempt }) => {
        if (attempt === 0 && one.id % 4 === 0) {
          failures += 1
          throw limited
        }
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    assert.isAbove(failures, 0)
    assert.deepStrictEqual(result.failures, [])
    const refused = evolve({
      ...options(60),
      agent: (): string => {
        throw Object.assign(new Error("no such key"), { status: 401 })
      }
    })
    assert.match(await messageOf(refused), /^the agent failed on case \d+ after 1 attempt: no such key$/)
  })

  it("counts a call that hangs as missing, and goes on", async () => {
    const result = await evolve({
      ...options(60),
      timeoutSeconds: 0.02,
      retries: 0,
      agent: async (prompt, one) => {
        if (one.id % 10 === 0) await new Promise(() => {})
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    assert.isAbove(result.failures.length, 0)
    assert.include(result.failures[0], "no answer within 0.02 s")
  })

  it("keeps an output whose score is invalid, and scores it again later", async () => {
    const file = join(directory, "scores.jsonl")
    const asked = new Set<string>()
    const shared = {
      ...options(60),
      file,
      concurrency: 1,
      agent: (prompt: string, one: Case) => {
        assert.isFalse(asked.has(`${prompt} ${one.id}`), "asked twice")
        asked.add(`${prompt} ${one.id}`)
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    }
    assert.match(
      await messageOf(evolve({ ...shared, score: () => NaN })),
      /^score of case \d+: it is NaN; expected a number in \[0, 1\]$/
    )
    assert.isAbove((await evolve(shared)).calls, 10)
  })

  it("revises several named texts, one at a time", async () => {
    const result = await evolve({
      prompt: { system: "Name the capital.", tool: "Looks up." },
      cases: cases(60),
      agent: ({ system, tool }, one) => (succeeds(`${system} ${tool}`, one) ? "right" : "wrong"),
      score: (output) => Number(output === "right"),
      proposer: [good, neutral],
      budget: { calls: 200 }
    })
    assert.strictEqual(result.verdict, "better")
    assert.include(Object.values(result.prompt).join(" "), good)
    assert.match(result.report(), /^`(system|tool)`:$/mu)
  })

  it("reads cases from a file, and asks equal ones once", async () => {
    const file = join(directory, "tickets.csv")
    await writeFile(
      file,
      `text,expected\n${Array.from({ length: 20 }, (_, id) => `"Ticket ${id % 12}, urgent",${id % 2 === 0 ? "a" : "b"}`).join("\n")}\n`
    )
    const result = await evolve({
      prompt: "Sort the ticket.",
      cases: file,
      agent: (_, ticket) => (ticket["text"]?.includes("1") === true ? "a" : "b"),
      score: (output, { expected }) => Number(output === expected),
      proposer: [neutral, bad],
      budget: { calls: 40 }
    })
    assert.strictEqual(result.cases.repeated, 8)
  })

  it("gives a language model the failures, without the answer as part of the task", async () => {
    const requests: Array<string> = []
    const result = await evolve({
      ...options(200),
      cases: cases(60).map(({ id }) => ({ id, expected: `right-${id}` })),
      score: (output) => ({ score: Number(output === "right"), feedback: "too long" }),
      proposer: (request) => {
        requests.push(request)
        return { text: `<critique>x</critique><ins_1>Name the capital. ${good}</ins_1>`, usd: 0.02 }
      }
    })
    assert.include(requests[0], "too long")
    assert.match(requests[0] ?? "", /<task>\{"id":\d+\}<\/task>/u)
    assert.strictEqual(result.verdict, "better")
    assert.closeTo(result.usd, 0.02 * requests.length, 1e-9)
  })

  it("asks no prompt a case that it was written from, and shows the proposer no case that is held out", async () => {
    const shown = new Map<string, ReadonlyArray<number>>()
    const asked: Array<{ readonly prompt: string; readonly id: number }> = []
    let written = 0
    const result = await evolve({
      ...options(300),
      concurrency: 1,
      agent: (prompt, one) => {
        asked.push({ prompt, id: one.id })
        return succeeds(prompt, one) ? "right" : "wrong"
      },
      proposer: (request) => {
        const ids = [...request.matchAll(/<task>\{"id":(\d+)\}/gu)].map(([, id]) => Number(id))
        const texts = [1, 2].map(
          () => `Name the capital. ${written++ % 3 === 0 ? good : neutral} ${"!".repeat(written)}`
        )
        for (const text of texts) shown.set(text, ids)
        return texts.map((text, place) => `<ins_${place + 1}>${text}</ins_${place + 1}>`).join("")
      }
    })
    assert.strictEqual(result.verdict, "better")
    const held = new Set(asked.slice(-result.cases.test).map(({ id }) => id))
    const search = asked.slice(
      0,
      result.tried.reduce((sum, { cases }) => sum + cases, 0)
    )
    for (const { id, prompt } of search) {
      assert.isFalse(shown.get(prompt)?.includes(id) === true, `${prompt} was asked case ${id}`)
      assert.isFalse(held.has(id))
    }
    for (const ids of shown.values()) {
      assert.isAbove(ids.length, 0)
      for (const id of ids) assert.isFalse(held.has(id))
    }
  })

  it("rejects a revision that loses a placeholder, or that was cut, and says what is left of the budget", async () => {
    const left: Array<number | null> = []
    const result = await evolve({
      ...options(60),
      prompt: "Name the capital of {{country}}.",
      keep: ["{{country}}", "{{other}}"],
      budget: { calls: 60, usd: 1 },
      atMost: () => 0,
      proposer: (_, { usd }) => {
        left.push(usd)
        return {
          text: `<ins_1>${good}</ins_1><ins_2>Capital of {{country}}: ${good}</ins_2><ins_3>${bad}`,
          usd: 0.1,
          end: "cut"
        }
      }
    })
    assert.deepStrictEqual([...new Set(result.rejected.map(({ reason }) => reason))].slice(0, 1), ["text-lost"])
    assert.deepStrictEqual(
      result.tried.map(({ prompt }) => prompt),
      ["Name the capital of {{country}}.", `Capital of {{country}}: ${good}`]
    )
    for (const [count, usd] of left.entries()) assert.closeTo(usd ?? 0, 1 - 0.1 * count, 1e-9)
  })

  const revision = `It is wordy. <ins_1>Name it. ${good} Never write a full sen`
  const sdk = (finishReason: string | { unified: string; raw: string }) => ({
    specificationVersion: typeof finishReason === "string" ? "v2" : "v3",
    modelId: "fake",
    doGenerate: () => Promise.resolve({ content: [{ type: "text", text: revision }], finishReason, usage: {} })
  })

  it.each([
    ["a model of AI SDK v2 at its limit", sdk("length"), /limit of tokens/u],
    ["a model of AI SDK v3 at its limit", sdk({ unified: "length", raw: "max_tokens" }), /limit of tokens/u],
    ["a model of AI SDK v2 that a filter stopped", sdk("content-filter"), /refused/u],
    ["a model of AI SDK v3 that a filter stopped", sdk({ unified: "content-filter", raw: "x" }), /refused/u],
    ["a model of AI SDK v2 with an error", sdk("error"), /stopped with an error/u],
    ["a model of AI SDK v2 for another reason", sdk("other"), /no candidate could be found/u],
    ["a function at its limit", () => ({ text: revision, end: "cut" as const }), /limit of tokens/u],
    ["a function that does not say why it stopped", () => revision, /no candidate could be found/u]
  ])("tries no revision that was cut by %s", async (_, proposer, problem) => {
    const asked = new Set<string>()
    const search = evolve({
      ...options(60),
      agent: (prompt) => {
        asked.add(prompt)
        return "wrong"
      },
      retries: 0,
      proposer
    })
    assert.match(await messageOf(search), problem)
    assert.deepStrictEqual([...asked], ["Name the capital."])
  })

  it("improves a prompt of more than 700 words", async () => {
    const long = `${"Name the capital, please. ".repeat(250)}Go.`
    const edit = `<ins_1>\n<<<<<<< SEARCH\nGo.\n=======\nGo.${good}\n>>>>>>> REPLACE\n</ins_1>`
    const { tried } = await evolve({ ...options(60), prompt: long, proposer: () => edit })
    assert.strictEqual(tried[1]?.prompt, `${long}${good}`)
  })

  it("tries a revision without a closing tag of a model that was done", async () => {
    const { tried } = await evolve({ ...options(60), proposer: sdk("stop") })
    assert.include(tried[1]?.prompt, "Never write a full sen")
  })

  it("fails with the proposer's own error if nothing can be proposed", async () => {
    const failing = evolve({
      ...options(60),
      retries: 0,
      proposer: () => {
        throw new Error("out of credit")
      }
    })
    assert.include(await messageOf(failing), "out of credit")
  })

  it.each([
    ["cases", { cases: cases(3) }, /cases is 3; expected at least 10 different ones/],
    ["equal cases", { cases: Array.from({ length: 60 }, () => ({ id: 1 })) }, /cases is 1; expected at least 10/],
    ["calls", { budget: { calls: 5 } }, /budget\.calls is 5; expected a whole number of at least 29/],
    ["usd", { budget: { calls: 50, usd: -1 } }, /budget\.usd is -1; expected US dollars above 0/],
    ["prompt", { prompt: " " }, /prompt is empty; expected a text of 1 to 100,000 characters/],
    ["gain", { minimalGain: 2 }, /minimalGain is 2; expected a gain above 0 and below 1/],
    ["concurrency", { concurrency: 0 }, /concurrency is 0; expected a whole number of at least 1/]
  ])("refuses bad input: %s", async (_, changed, message) => {
    assert.match(await messageOf(evolve({ ...options(60), ...changed })), message)
  })

  it("leaves a file that others cannot read", async () => {
    const file = join(directory, "mode.jsonl")
    await evolve({ ...options(40), file })
    assert.include((await readFile(file, "utf8")).split("\n")[0], `"format":"inspo-evolve"`)
  })
})

describe("a search with protected cases", () => {
  const guarded = (fails: (prompt: string, one: Case) => boolean) =>
    evolve({
      ...options(400),
      cases: cases(60).map((one) => (one.id < 2 ? { ...one, protected: true } : one)),
      agent: (prompt, one) => (fails(prompt, one) ? "wrong" : one.id === 1 || succeeds(prompt, one) ? "right" : "wrong")
    })

  it("returns a better prompt that keeps them", async () => {
    const { calls, failsProtected, verdict } = await guarded(() => false)
    assert.deepStrictEqual([verdict, failsProtected], ["better", []])
    assert.isAtMost(calls, 400)
  })

  it("is refused where they leave too few calls, and can then be made with as many as the refusal says", async () => {
    const all = cases(60).map((one) => ({ ...one, protected: true }))
    const asking = (calls: number) => evolve({ ...options(calls), cases: all })
    const refusal = await messageOf(asking(300))
    const [, least = ""] =
      /budget\.calls is 300; expected at least (\d+): 60 protected cases can take 386 calls/u.exec(refusal) ?? []
    assert.include(await messageOf(asking(Number(least) - 1)), `expected at least ${least}`)
    assert.notInclude((await asking(Number(least))).report(), "No other prompt was tried")
  })

  it("tests all held-out cases, although protected ones stay open by chance", async () => {
    let tested = 0
    for (let seed = 1; seed <= 12; seed++) {
      const { calls, report } = await evolve({
        ...options(344),
        randomSeed: seed,
        cases: cases(60).map((one) => (one.id < 20 ? { ...one, protected: true } : one)),
        agent: (prompt, { id }, { key }) =>
          chance(key, id, seed) < (prompt.includes(good) ? 0.55 : 0.5) ? "right" : "wrong"
      })
      assert.isAtMost(calls, 344)
      const [, held = null] = /On (\d+) held-out cases/u.exec(report()) ?? []
      if (held !== null) tested += 1
      assert.include([null, "30"], held)
    }
    assert.isAbove(tested, 3)
  })

  it("returns none that fails one, and names the case", async () => {
    const { failsProtected, prompt, report, verdict } = await guarded((text, { id }) => id === 1 && text.includes(good))
    assert.deepStrictEqual([verdict, prompt], ["undecided", "Name the capital."])
    assert.deepStrictEqual<unknown>(failsProtected, [{ id: 1, protected: true }])
    assert.include(report(), "fails 1 protected case that the original solves")
  })
})

describe("a search for a shorter or cheaper prompt", () => {
  const long = `Name the capital. ${"Be thorough, and take your time. ".repeat(3)}`.trim()
  const searched = (
    aim: "better" | "shorter" | "cheaper",
    fails: (prompt: string, one: Case) => boolean = () => false,
    of = 160,
    { count = 1, ...more }: { readonly count?: number; minimalGain?: number; proposerKind?: "evolving" } = {}
  ) => {
    const requests: Array<string> = []
    return evolve({
      prompt: long,
      aim,
      cases: cases(of),
      margin: 0.1,
      ...more,
      agent: (prompt, one, { spend }) => {
        spend(prompt.length / 1000)
        return one.id % 4 > 0 && !fails(prompt, one) ? "right" : "wrong"
      },
      score: (output) => Number(output === "right"),
      proposer: (request) => {
        requests.push(request)
        const short = Array.from({ length: count }, (_, nth) => {
          const dots = ".".repeat(count * requests.length + nth)
          return `<ins_${nth + 2}>Name the capital city${dots}</ins_${nth + 2}>`
        })
        return `${count > 1 ? "" : `<ins_1>${long} And more.</ins_1>`}${short.join("")}`
      },
      budget: { calls: 500 }
    }).then((result) => ({ ...result, requests }))
  }

  it.each(["shorter", "cheaper"] as const)("returns one that is no worse and %s, where none is better", async (aim) => {
    const { finalist, prompt, report, requests, verdict } = await searched(aim)
    assert.deepStrictEqual([verdict, prompt], [aim, finalist ?? ""], report())
    assert.isBelow(prompt.length, 0.9 * long.length)
    assert.include(report(), `A ${aim} prompt that is no worse`)
    assert.include(requests[0] ?? "", aim === "shorter" ? "- have at most 104 characters" : "- make answers cheaper")
    const what = aim === "shorter" ? "length" : "price of a call"
    assert.include(report(), `It is shown that it is no worse by more than 10.0 points, and that its ${what} falls by`)
    assert.include(report(), "## What changed")
  })

  it("asks for what saves in the request for proposals alone", async () => {
    const { requests } = await searched("shorter", undefined, 160, { proposerKind: "evolving" })
    const isProposing = (request: string) => request.includes("Each of them has to")
    assert.isFalse(requests.every(isProposing))
    for (const request of requests) assert.strictEqual(request.includes("at most 104 characters"), isProposing(request))
  })

  it("goes on where none can be better, unless a better one is looked for", async () => {
    const ended = (aim: "better" | "shorter") => searched(aim, undefined, 160, { minimalGain: 0.9, count: 5 })
    assert.strictEqual((await ended("better")).verdict, "no-headroom")
    assert.strictEqual((await ended("shorter")).verdict, "shorter")
  })

  it("says of few cases that one is shorter, and not that it is cheaper", async () => {
    assert.strictEqual((await searched("shorter", undefined, 58)).verdict, "shorter")
    assert.strictEqual((await searched("cheaper", undefined, 58)).verdict, "undecided")
  })

  it.each(["shorter", "cheaper"] as const)("keeps the prompt where what is %s is worse", async (aim) => {
    const { prompt, verdict } = await searched(aim, (text, { id }) => text.length < 60 && id % 8 === 1)
    assert.deepStrictEqual([verdict, prompt], ["undecided", long])
  })
})
