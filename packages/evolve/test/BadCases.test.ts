/** @module-tag deep */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import { evolve, type EvolveOptions } from "../src/index.ts"
import { bad, type Case, cases, good, neutral, options, succeeds } from "./support/Agents.ts"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-evolve-bad-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

type Options = EvolveOptions<string, Case, string>

/** A value that the types do not allow, as JavaScript can give it. */
const untyped = (json: string) => JSON.parse(json)

const fails = (error: Error) => (): never => {
  throw error
}

const hangs = () => new Promise<never>(() => {})

const long = (length: number) =>
  `Name the capital. ${"Think about it again. ".repeat(length)}`.slice(0, length - 1) + "."

/** What goes wrong, and the error or the verdict that it ends with. */
const table: ReadonlyArray<readonly [what: string, bad: Partial<Options>, outcome: RegExp]> = [
  ["no score", { score: () => untyped("null") }, /^score of case \d+: it is null; expected a number in \[0, 1\]$/u],
  [
    "an empty score",
    { score: () => ({ score: untyped("{}") }) },
    /^score of case \d+: it is \[object Object\]; expected a/u
  ],
  ["a score of NaN", { score: () => NaN }, /^score of case \d+: it is NaN; expected a number in \[0, 1\]$/u],
  [
    "feedback that is no text",
    { score: () => ({ score: 1, feedback: untyped("5") }) },
    /^score of case \d+: its feedback is 5; expected a text$/u
  ],
  [
    "feedback and metrics of null",
    {
      score: (output) => ({ score: Number(output === "right"), ...untyped('{"feedback":null,"metrics":null}') })
    },
    /^(?:better|undecided|no-headroom)$/u
  ],
  [
    "a price that is a text",
    {
      agent: (_prompt, _one, { spend }) => {
        spend(untyped('"0.1"'))
        return "right"
      }
    },
    /^the agent failed on case \d+ after 1 attempt: spend: 0\.1 US dollars; expected a number of at least 0$/u
  ],
  ["an identity that is no text", { identity: { n: untyped("5") } }, /identity\.n is 5; expected a text/u],
  ["a seed that is a text", { randomSeed: untyped('"a"') }, /randomSeed is a; expected a number$/u],
  ["a seed of NaN", { randomSeed: NaN }, /randomSeed is NaN; expected a number$/u],
  ["a budget that is a text", { budget: { calls: 60, usd: untyped('"1"') } }, /budget\.usd is 1; expected US dollars/u],
  ["no budget", { budget: untyped("null") }, /budget is null; expected \{ calls \}/u],
  ["no prompt", { prompt: untyped("null") }, /prompt is null; expected a text, or texts by their names$/u],
  ["no cases", { cases: untyped("null") }, /cases is null; expected a list, or the path of a file$/u],
  ["no proposer", { proposer: untyped("null") }, /proposer is null; expected a function from text to text/u],
  ["a proposer without sentences", { proposer: [] }, /proposer is \[\]; expected .* a list of sentences$/u],
  ["an unknown aim", { aim: untyped('"smaller"') }, /aim is smaller; expected better, shorter or cheaper$/u],
  ["a margin without an aim", { margin: 0.1 }, /margin is 0\.1; expected none without an aim or a control$/u],
  [
    "a mark that is neither true nor false",
    { cases: cases(60).map((one) => ({ ...one, protected: "yes" })) },
    /protected of case 1 is yes; expected true or false/u
  ],
  ["a score that throws", { score: fails(new Error("no judge")) }, /^score of case \d+: no judge$/u],
  ["a score that hangs", { score: hangs, timeoutSeconds: 0.5 }, /^score of case \d+: no answer within 0\.5 s$/u],
  [
    "an agent that throws",
    { agent: fails(new Error("down")) },
    /^the agent failed on case \d+ after 1 attempt: down$/u
  ],
  [
    "an agent that throws now and then",
    {
      agent: (prompt, one) =>
        one.id % 7 === 0 ? fails(new Error("down"))() : succeeds(prompt, one) ? "right" : "wrong"
    },
    /^(?:better|undecided|no-headroom)$/u
  ],
  [
    "an agent that hangs",
    { agent: hangs, timeoutSeconds: 0.05 },
    /^the agent failed on case \d+ after 1 attempt: no answer within 0\.05 s$/u
  ],
  [
    "equal cases",
    { cases: Array.from({ length: 60 }, () => ({ id: 1 })) },
    /cases is 1; expected at least 10 different/u
  ],
  [
    "one case",
    { cases: cases(1) },
    /cases is 1; expected at least 10 different ones: half find a prompt, half test it$/u
  ],
  ["no case", { cases: [] }, /cases is 0; expected at least 10 different/u],
  [
    "no expected value",
    { proposer: () => `<ins_1>Name it. ${good}</ins_1><ins_2>Name it. ${neutral}</ins_2>` },
    /^(?:better|undecided)$/u
  ],
  ["an empty prompt", { prompt: "" }, /prompt is empty; expected a text of 1 to 100,000 characters$/u],
  ["a prompt of 100 kB", { prompt: long(100_000), proposer: [good, bad] }, /^(?:better|undecided|no-headroom)$/u],
  [
    "a longer prompt",
    { prompt: long(100_001) },
    /^.*prompt is 100001 characters; expected a text of 1 to 100,000 characters$/u
  ],
  [
    "an agent that ignores the prompt",
    { agent: (_, { id }) => (id % 3 === 0 ? "right" : "wrong") },
    /^(?:undecided|no-headroom)$/u
  ]
]

describe("what can go wrong", () => {
  it.each(table)(
    "%s ends with a clear error or verdict, and loses nothing that was paid for",
    async (what, given, outcome) => {
      const file = join(directory, `${what}.jsonl`)
      const answered = new Map<string, number>()
      const usual = options(60)
      const merged: Options = { ...usual, file, retries: 0, ...given }
      const paid =
        (from: Options): Options["agent"] =>
        async (prompt, one, context) => {
          const output = await from.agent(prompt, one, context)
          const key = JSON.stringify([prompt, one.id])
          answered.set(key, (answered.get(key) ?? 0) + 1)
          // It is paid for, and on its way when another call fails.
          await setTimeout(30 * (one.id % 4))
          return output
        }
      const ended = await evolve({ ...merged, agent: paid(merged) }).then(
        ({ verdict }) => verdict,
        (error: unknown) => (error instanceof Error ? error.message : String(error))
      )
      assert.match(ended, outcome)
      assert.isBelow(ended.length, 300)
      const kept = (await readFile(file, "utf8").catch(() => "")).match(/"_tag":"Obtained"/gu)?.length ?? 0
      assert.strictEqual(
        kept,
        [...answered.values()].reduce((sum, one) => sum + one, 0)
      )

      const again = await evolve({
        ...merged,
        ...Struct.pick(usual, ["score"]),
        agent: paid(usual),
        timeoutSeconds: 60
      }).catch(() => null)
      // What cannot work is refused before anything is paid for.
      if (again === null) return assert.strictEqual(answered.size, 0)
      assert.strictEqual(again.lost.calls, 0)
      const repeated = [...answered].filter(([, count]) => count > 1)
      if (again.gain === null) assert.isEmpty(repeated)
      const events = (await readFile(file, "utf8")).match(/"_tag":"(?:Obtained|Missed)"/gu)?.length
      assert.strictEqual(again.calls, events)
    }
  )
})
