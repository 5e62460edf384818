import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@inspo/coevolution"
import { PlainText } from "@inspo/domain"
import { Schema, Struct } from "effect"
import { syntheticLog } from "../../../../packages/analysis/test/support/SyntheticLog.ts"
import { overview } from "../../src/projection/Overview.ts"
import { population } from "../../src/projection/Population.ts"
import * as Run from "../../src/projection/Run.ts"
import * as Markdown from "../../src/report/Markdown.ts"
import * as Report from "../../src/report/Report.ts"
import { style } from "../../src/report/Style.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { config, events, saying } from "../support/Log.ts"

const End = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: events.length }))
const hostile = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "</style><b>",
  "javascript:alert(1) &lt; &amp; '",
  "<!-- ",
  "\u202E\u0000 ]]>"
]

const recordOf = (all: ReadonlyArray<RunEvent>) => RunRecord.observe(RunRecord.empty(config), all)

const notes = { baseline: null, wallSeconds: 12, degraded: [] }

const html = (record: RunRecord.RunRecord, name = "run") =>
  Report.html({
    name,
    record,
    ledger: [],
    notes,
    commands: ["inspo run"],
    date: "2026-03-01"
  })

/** How many elements of each name a document has, less those that a difference of words is made of. */
const elements = (document: string): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const [, name = ""] of document.matchAll(/<([a-z!][\w-]*)/giu)) counts[name] = (counts[name] ?? 0) + 1
  return Struct.omit(counts, ["ins", "del", "span"])
}

describe("Report.html", () => {
  it.prop(
    "works at any point of a run, with equal bytes for equal runs",
    [End],
    ([end]) => {
      assert.strictEqual(html(recordOf(events.slice(0, end))), html(recordOf(events.slice(0, end))))
    },
    { arbitrary: { runs: 20 } }
  )

  it("names the run, the date and the task in its title and its head", () => {
    const document = html(recordOf(events), "first")
    assert.include(document, "<title>first: report of a run of inspo, 2026-03-01</title>")
    assert.match(
      document,
      /<h1>Report of the run first<\/h1><p class="muted">2026-03-01 · task: generated world, scored by EM</u
    )
  })

  it("loads nothing and has no scripts", () => {
    const document = html(recordOf(events))
    assert.notMatch(document, /<script|<link|<iframe|<img|\ssrc=|href=|url\(|@import|https?:|\son\w+=/iu)
    assert.include(document, "default-src &#x27;none&#x27;")
  })

  it.each(hostile)("has the same elements as for a harmless text if models write %j", (text) => {
    assert.deepStrictEqual(
      elements(html(recordOf(saying(text)), text)),
      elements(html(recordOf(saying("words")), "run"))
    )
    assert.deepStrictEqual(PlainText.hiddenIn(html(recordOf(saying(text)), text)), [])
  })

  it("names the reward", () => {
    const f1 = { ...config, reward: { ...config.reward, kind: { name: "f1" as const } } }
    const document = html(RunRecord.observe(RunRecord.empty(f1), events))
    assert.notMatch(document, /\bEM\b/u)
    for (const part of ["Training F1, n = ", "Validation F1", '<th scope="col" class="num">F1</th>'])
      assert.include(document, part)
  })

  it("has no plural after the number 1", () => {
    const short = {
      ...config,
      schedule: { ...config.schedule, steps: 1, pruneEvery: 1, evolveEvery: 1, evolveUntil: 1 },
      population: { ...config.population, size: 2, parents: 1 },
      selection: { ...config.selection, rounds: 1 },
      verification: { samples: 1 },
      rollout: { ...config.rollout, groupSize: 1 },
      train: { ...config.train, batchSize: 1, miniBatch: { ...config.train.miniBatch, size: 1 } },
      evaluation: { ...config.evaluation, every: 1, questions: 1 }
    }
    const record = RunRecord.observe(RunRecord.empty(short), syntheticLog(short, 1))
    const { verdict } = population(record)
    const { marks } = overview(Run.run({ id: "one", name: "one" }, record, Run.unwritten, 0), record, notes)
    const all = [
      html(record).replaceAll(/<[^>]*>/gu, " "),
      ...Markdown.compared(record),
      ...Markdown.progress(record),
      ...Markdown.lineageOfBest(record),
      verdict,
      ...marks.map(({ text }) => text)
    ]
    assert.isNotEmpty(marks)
    for (const text of all) assert.notMatch(text, /(?<![\d.,=-]\s?)\b1 [a-z]+s\b/u)
  })

  it("stays below 3 MB with very long texts", () => {
    assert.isAtMost(Buffer.byteLength(html(recordOf(saying("word ".repeat(40_000))))), 3_000_000)
  })
})

describe("MarkdownReport", () => {
  it.each(hostile)("escapes a text such as %j", (text) => {
    const document = Markdown.lineageOfBest(recordOf(saying(text))).join("\n")
    assert.isAbove(document.length, 0)
    assert.notMatch(document, /<(?!\/?$)/u)
  })

  it("has the result, what changed and the best instruction, without an interval for a cost", () => {
    const record = recordOf(events)
    const view = overview(Run.run({ id: "first", name: "first" }, record, Run.unwritten, 0), record, notes)
    const [title, , task, , summary] = Markdown.head({ name: "first", date: "2026-03-01", record, view })
    assert.deepStrictEqual(
      [title, task],
      ["# Report of the run first", "2026-03-01 · task: generated world, scored by EM"]
    )
    assert.match(summary ?? "", /: training [+−][\d.]+ points .*, the instruction [+−][\d.]+ points /u)
    const rows = Markdown.changed(record, view)
    assert.match(rows[2] ?? "", /^\| EM, all questions \| [\d.]+ % \| [\d.]+ % \| [+−][\d.]+ points \[/u)
    assert.include(rows.join("\n"), "| tool calls per question |")
    assert.match(Markdown.best(view)[0] ?? "", /^> /u)
  })

  it("covers every step once", () => {
    const rows = Markdown.progress(recordOf(events)).filter((line) => /^\| \d/u.test(line))
    const steps = rows.flatMap((line) => {
      const [, first = 0, last = first] = /^\| (\d+)(?: – (\d+))?/u.exec(line) ?? []
      return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
    })
    assert.deepStrictEqual(
      steps,
      Array.from({ length: config.schedule.steps }, (_, index) => index + 1)
    )
  })
})

describe("the style of a report", () => {
  it("has the colours of the page, in both themes", () => {
    const page = readFileSync(fileURLToPath(new URL("../../page/styles.css", import.meta.url)), "utf8")
    const colours = (css: string) =>
      new Map([...css.matchAll(/(--[\w-]+):\s*(light-dark\(#[^)]*\))/gu)].map(([, name, value]) => [name, value]))
    const known = colours(page)
    const used = colours(style)
    assert.isAbove(used.size, 20)
    for (const [name, value] of used) assert.strictEqual(value, known.get(name), name)
  })
})
