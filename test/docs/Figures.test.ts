import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Exact } from "@inspo/statistics"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { paired } from "../../research/studies/src/Paired.ts"
import { root } from "../packages/support/Workspace.ts"

const read = (file: string): string => readFileSync(join(root, file), "utf8")

const readme = read("README.md")
const details = read("research/docs/real-model-details.md")

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

/** The reward of each seed under the plain and the returned instruction, in a table of the details. */
const frozen = (task: string) => {
  const seeds = rows(details, `${task}, 1`)
    .filter(([name = ""]) => name.length === `${task}, 11`.length)
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
      seeds.map((one) => ({ ...one, arm, em: 100 * one.em }))
    )
  )
  return Map.groupBy(seeds, ({ arm }) => arm)
}

describe("the figures of the README", () => {
  it("are four rows, one of them without a gain", () => {
    const differences = ["toy model", "SmolLM2, a letter", "SmolLM2, a format", "SmolLM2, arithmetic"].map(
      (start) => rows(readme, `[${start}`)[0]?.[4]
    )
    assert.deepStrictEqual(differences, ["26.7 [21.7, 31.8]", "99.1 [98.2, 100.1]", "6.1 [1.8, 10.4]", "0.0"])
  })

  it("on the toy model are those of the study", () => {
    const page = read("research/docs/evidence.md")
    const [evolved = []] = rows(page, "evolved ")
    const [fixed = []] = rows(page, "static ")
    assert.deepStrictEqual(
      figures("toy model, multi-hop search, trained"),
      ["10", evolved[1], fixed[1], fixed[5]].map((cell = "") => cell)
    )
  })

  it("on the letter are those of the result files", () => {
    const arms = letter(11)
    const [evolved, plain] = ["letter-searching", "letter-static"].map(
      (arm) => new Map((arms.get(arm) ?? []).map(({ em, seed }) => [seed, em]))
    )
    if (evolved === undefined || plain === undefined) return assert.fail("an arm is missing")
    assert.deepStrictEqual(figures("SmolLM2, a letter, trained"), [
      "10",
      mean(evolved),
      mean(plain),
      withInterval(paired(evolved, plain))
    ])
    const started = (arm: string) => (arms.get(arm) ?? []).filter(({ takeOff }) => takeOff.step !== null).length
    assert.deepStrictEqual([started("letter-searching"), started("letter-static")], [10, 0])
    assert.match(readme, /started on 0 of 10 seeds; with evolving instructions it\s+started on 10 of 10/u)
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
  const page = read("research/docs/real-model-study.md")

  it.each([1, 11])("are those of the result files, of the ten seeds from %i", (first) => {
    for (const [arm, seeds] of letter(first)) {
      const score = Exact.estimate(seeds.map(({ em }) => em))
      const found = rows(page, `\`${arm}\``).filter((row) => row.join(" ").includes(withInterval(score)))
      assert.isNotEmpty(found, `${arm}: ${withInterval(score)}`)
    }
  })
})
