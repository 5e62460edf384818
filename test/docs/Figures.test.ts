import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Exact } from "@inspo/statistics"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { paired } from "../../research/studies/src/Paired.ts"
import { decimals, filled, known, pages, results } from "../../tools/docs/figures.ts"
import { root } from "../packages/support/Workspace.ts"

const read = (file: string): string => readFileSync(join(root, file), "utf8")

const readme = read("README.md")

/** The cells of the rows of a page that begin with a text. */
const rows = (page: string, start: string): ReadonlyArray<ReadonlyArray<string>> =>
  page.split("\n").flatMap((line) => (line.startsWith(`| ${start}`) ? [cells(line)] : []))

const cells = (line: string): ReadonlyArray<string> =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The figures of the README on a model and a task. */
const figures = (task: string): ReadonlyArray<string> => rows(readme, `[${task}]`)[0]?.slice(1) ?? []

const points = (value: number): string => value.toFixed(1)

const withInterval = (value: Exact.Estimate | null): string =>
  value === null
    ? ""
    : value.ci95 === null || value.ci95[0] === value.ci95[1]
      ? points(value.mean)
      : `${points(value.mean)} [${value.ci95.map(points).join(", ")}]`

const mean = (values: ReadonlyMap<number, number>): string =>
  points(Exact.estimate([...values.values()])?.mean ?? Number.NaN)

/** The rows of a table of results, counted from 1. */
const table = (name: string, place: number): ReadonlyArray<ReadonlyArray<string>> =>
  results.get(name)?.tables[place - 1]?.rows ?? []

/** The row of a table of results that begins with a text. */
const rowOf = (name: string, place: number, start: string): ReadonlyArray<string> =>
  table(name, place).find(([first = ""]) => first.replaceAll("`", "") === start) ?? []

/** The reward of each seed under the plain and the returned instruction. */
const frozen = (task: string) => {
  const seeds = table("frozen", 1)
    .filter(([name = ""]) => name.startsWith(`${task}, 1`))
    .map(([name = "", plain = "", returned = ""]) => ({
      seed: Number(name.split(", ")[1]),
      plain: Number(plain),
      returned: returned === "the plain" ? Number(plain) : Number(returned)
    }))
  return {
    plain: new Map(seeds.map(({ plain, seed }) => [seed, plain])),
    returned: new Map(seeds.map(({ returned, seed }) => [seed, returned]))
  }
}

const Result = Schema.fromJsonString(
  Schema.Struct({
    arms: Schema.Array(
      Schema.Struct({
        arm: Schema.String,
        seeds: Schema.Array(
          Schema.Struct({
            seed: Schema.Int,
            em: Schema.Finite,
            takeOff: Schema.Struct({ step: Schema.NullOr(Schema.Int) })
          })
        )
      })
    )
  })
)

/** What the arms of the letter came to on ten seeds, from the files of the results. */
const letter = (first: number) => {
  const seeds = Array.from({ length: 10 }, (_, index) => first + index).flatMap((seed) =>
    Schema.decodeSync(Result)(read(`research/studies/model/letter/seed-${seed}.json`)).arms.flatMap(({ arm, seeds }) =>
      seeds.map((one) => ({ ...one, arm }))
    )
  )
  return Map.groupBy(seeds, ({ arm }) => arm)
}

describe("the figures of the README", () => {
  it("are four rows, one of them without a gain", () => {
    const differences = ["toy model", "SmolLM2, a letter", "SmolLM2, a format", "SmolLM2, arithmetic"].map(
      (start) => rows(readme, `[${start}`)[0]?.[4]
    )
    assert.deepStrictEqual(differences, ["26.7 [21.7, 31.8]", "p = 0.002", "6.1 [1.8, 10.4]", "0.0"])
  })

  it("on the toy model are those of the study", () => {
    const evolved = rowOf("static-vs-evolved", 1, "evolved")
    const fixed = rowOf("static-vs-evolved", 1, "static")
    assert.deepStrictEqual(
      figures("toy model, multi-hop search, trained"),
      ["10", evolved[1], fixed[1], fixed[5]].map((cell = "") => cell)
    )
  })

  it("on the letter are those of the result files", () => {
    const arms = letter(11)
    const started = ["letter-searching", "letter-static"].map(
      (arm) => new Map((arms.get(arm) ?? []).map(({ seed, takeOff }) => [seed, takeOff.step !== null]))
    )
    const [evolved = new Map<number, boolean>(), plain = new Map<number, boolean>()] = started
    const alone = [...evolved].filter(([seed, starts]) => starts && plain.get(seed) === false).length
    const against = [...plain].filter(([seed, starts]) => starts && evolved.get(seed) === false).length
    assert.deepStrictEqual(figures("SmolLM2, a letter, trained: starts"), [
      "10",
      ...started.map((runs) => `${[...runs.values()].filter(Boolean).length} of ${runs.size}`),
      `p = ${Exact.signTest(alone, against).toFixed(3)}`
    ])
  })

  it.each(["format", "arithmetic"])("on a frozen model are those of each seed: %s", (task) => {
    const { plain, returned } = frozen(task)
    const difference = paired(returned, plain)
    assert.deepStrictEqual(figures(`SmolLM2, ${task === "format" ? "a format" : task}, frozen`), [
      `${plain.size}`,
      mean(returned),
      mean(plain),
      withInterval(difference)
    ])
  })
})

describe("the figures of the study of the letter", () => {
  it.each([
    ["letter", 2, 1],
    ["letter-search", 1, 11]
  ] as const)("are those of the result files: %s", (name, place, first) => {
    for (const [arm, seeds] of letter(first)) {
      const scores = seeds.map(({ em }) => Math.round(100 * em)).toSorted((one, other) => one - other)
      assert.include(rowOf(name, place, arm), scores.some(Boolean) ? scores.join(", ") : "0", arm)
    }
  })
})

describe("the figures of pages", () => {
  /** A text without the spaces and rules that depend on the width of a table. */
  const plain = (text: string): string => text.replaceAll(/-{3,}/gu, "---").replaceAll(/[ \t]+/gu, " ")

  const withoutBlocks = (text: string): string => text.replaceAll(/<!-- figures: [^]*?<!-- end -->/gu, "")

  it.each(pages)("have the tables of their results: %s", (page) => {
    const text = read(page)
    assert.strictEqual(plain(filled(page, text)), plain(text))
  })

  it("all have a file: evidence.md has no table of its own, and no number that no file has", () => {
    const own = withoutBlocks(read("research/docs/evidence.md"))
    assert.notMatch(own, /^\|/mu)
    assert.deepStrictEqual(
      decimals(own.replaceAll(/0\.4 M/gu, "")).filter((number) => !known.has(number)),
      []
    )
  })

  it("all have a file: what docs/paper.md found here", () => {
    const found = rows(read("docs/paper.md"), "Table 1").concat(rows(read("docs/paper.md"), "Figure"))
    const here = found.flatMap(([, , , cell = ""]) => decimals(cell))
    assert.isAtLeast(here.length, 20)
    assert.deepStrictEqual(
      here.filter((number) => !known.has(number)),
      []
    )
  })

  it("all have a file: the drawings", () => {
    for (const page of globSync("research/docs/*.md", { cwd: root }))
      for (const [, drawing = ""] of read(page).matchAll(/\]\(figures\/([\w-]+)\.svg\)/gu))
        assert.isTrue(results.has(drawing.replace("trained-letter-reward", "letter")), `${page}: ${drawing}`)
  })

  it("come from results with a commit, a command and a machine", () => {
    for (const { command, commit, machine, name } of results.values()) {
      assert.match(commit, /^[0-9a-f]{7,8}$/u, name)
      assert.match(command, /^(?:[A-Z_]+=\S+ )*(?:npx pnpm@12|node) /u, name)
      assert.isNotEmpty(machine, name)
    }
  })

  it("are on a page of at most 2,500 words", () => {
    const page = read("research/docs/evidence.md")
    assert.isAtMost(page.split(/\s+/u).length, 2500)
    assert.isBelow(page.indexOf("## What does not help"), page.indexOf("## What helps"))
  })
})
