import { assert, describe, it } from "@effect/vitest"
import { Exact } from "@inspo/statistics"
import { Presets, type RunConfig } from "@inspo/config"
import * as fc from "fast-check"
import { runSettings } from "../src/projection/RunSettings.ts"
import { unread } from "../src/projection/Run.ts"
import * as RunRows from "../src/RunRows.ts"
import type { RunView } from "../src/view/RunView.ts"
import { config } from "./support/Log.ts"

const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }))
const runs: fc.Arbitrary<ReadonlyArray<RunView>> = fc
  .array(
    fc.record({
      name: fc.stringMatching(/^[a-c]{1,3}$/u),
      seed: fc.integer({ min: 1, max: 4 }),
      status: fc.constantFrom("running" as const, "finished" as const),
      reward: share,
      tested: share,
      step: fc.nat(50)
    }),
    { maxLength: 12 }
  )
  .map((some) => some.map((one, place) => ({ ...unread({ id: `r${place}`, name: one.name }, null), ...one })))

/** Runs with one of three sizes of population, one of which is not read yet. */
const known = (views: ReadonlyArray<RunView>) =>
  runSettings(
    views.slice(0, -1).map(({ id, seed }, place) => ({
      id,
      config: {
        ...config,
        randomSeed: seed ?? 1,
        population: { ...config.population, size: 5 + (place % 3) },
        budget: { ...config.budget, usd: place }
      },
      strategies: null
    }))
  )

const idsOf = (rows: ReadonlyArray<RunRows.Row>) => rows.map(({ run }) => run.id)

describe("rows of runs", () => {
  it("differ in the settings of which they have several values, whatever those do that are not listed", () => {
    fc.assert(
      fc.property(runs, fc.constantFrom("running", "finished"), (views, status) => {
        const listed = RunRows.filtered(RunRows.rows(views, known(views)), status)
        const read = listed.filter(({ group }) => group !== null)
        const values = (name: string) => new Set(read.map(({ settings }) => settings.get(name)))
        const differing = RunRows.differing(listed)
        for (const name of ["population.size", "randomSeed", "budget.usd"])
          assert.strictEqual(differing.includes(name), values(name).size > 1, name)
      })
    )
  })

  it("are sorted without losing one, and back again with those of no value last", () => {
    const by = fc.constantFrom(...RunRows.columns, "population.size", "randomSeed")
    fc.assert(
      fc.property(runs, by, (views, column) => {
        const all = RunRows.rows(views, known(views))
        const up = RunRows.sorted(all, column)
        assert.sameMembers(idsOf(up), idsOf(all))
        assert.deepStrictEqual(idsOf(RunRows.sorted(up, column)), idsOf(up))
        const down = RunRows.sorted(all, `-${column}`)
        assert.sameMembers(idsOf(down), idsOf(all))
        if (column === "tested") {
          const values = down.map(({ run }) => run.tested ?? -1)
          assert.deepStrictEqual(
            values,
            values.toSorted((a, b) => b - a)
          )
        }
        assert.deepStrictEqual(idsOf(RunRows.sorted(all, "")), idsOf(all))
      })
    )
  })

  it("are filtered by every word: a part of the name, a state, the value of a setting", () => {
    fc.assert(
      fc.property(
        runs,
        fc.constantFrom("a", "b", "finished", "state=finished", "size=6", "population.size=7 running"),
        (views, filter) => {
          const all = RunRows.rows(views, known(views))
          const found = new Set(idsOf(RunRows.filtered(all, filter)))
          for (const { run, settings } of all) {
            const words = filter.split(" ").every((word) => {
              const [name = "", value] = word.split("=")
              return value === undefined
                ? run.name.includes(name) || run.status.startsWith(name)
                : name === "state"
                  ? run.status === value
                  : settings.get("population.size") === value
            })
            assert.strictEqual(found.has(run.id), words, `${filter} ${run.id}`)
          }
        }
      )
    )
  })

  it("name a group by the preset and by what differs among the groups of it", () => {
    const of = (id: string, preset: RunConfig, size: number) => ({
      id,
      config: { ...preset, population: { ...preset.population, size } },
      strategies: null
    })
    const { quick, robust } = Presets
    const configured = [of("a", quick, 4), of("b", quick, 6), of("c", robust, 8)]
    const views = configured.map(({ id }) => ({ ...unread({ id, name: id }, null) }))
    const groups = RunRows.grouped(RunRows.rows(views, runSettings(configured)), [])
    assert.deepStrictEqual(
      groups.map(({ named, preset }) => [preset, named]),
      [
        ["quick", [["population.size", "4"]]],
        ["quick", [["population.size", "6"]]],
        ["robust", []]
      ]
    )
    assert.isAbove(groups[2]?.settings.length ?? 0, 5)
  })

  it("leave out runs within others, however deep", () => {
    const named = (name: string) => ({ ...unread({ id: name, name }, null), name })
    const all = RunRows.rows(["a", "a/baseline", "a/x/b", "ab", "c/baseline"].map(named), null)
    assert.deepStrictEqual(idsOf(RunRows.listed(all, "", false)), ["a", "ab", "c/baseline"])
  })

  it("are folded under the run that they are within, however many are unfolded, each once and behind it", () => {
    const name = fc.constantFrom("a", "b", "c", "a/baseline", "b/baseline")
    const some = fc
      .array(name, { maxLength: 9 })
      .map((names) => names.map((name, place) => unread({ id: `r${place}`, name }, null)))
    fc.assert(
      fc.property(some, fc.subarray(["r0", "r1", "r2", "r3"]), (views, open) => {
        const all = RunRows.rows(views, null)
        const [folded, whole] = [RunRows.unfolded(all, new Set(open)), RunRows.listed(all, "", true)]
        assert.sameMembers(idsOf(whole), idsOf(all))
        for (const { owner, run } of all) {
          const shown = idsOf(folded).includes(run.id)
          assert.strictEqual(shown, owner === null || (open.includes(owner) && idsOf(folded).includes(owner)))
          if (owner === null) continue
          assert.isBelow(idsOf(whole).indexOf(owner), idsOf(whole).indexOf(run.id))
          const left = views.find(({ id }) => id === owner)
          assert.isTrue(run.name.startsWith(`${left?.name}/`))
        }
      })
    )
  })

  it("are grouped by all that decides results but the seed, each run once, with t-intervals over seeds", () => {
    fc.assert(
      fc.property(runs, (views) => {
        const settings = known(views)
        const all = RunRows.rows(views, settings)
        const groups = RunRows.grouped(all, settings.quantiles)
        assert.sameMembers(
          groups.flatMap(({ rows }) => idsOf(rows)),
          idsOf(all)
        )
        for (const { rows, settings: own, tested } of groups) {
          // The budget decides no result, and the seed is what differs within a group.
          assert.isAtMost(new Set(rows.map(({ settings }) => settings.get("population.size"))).size, 1)
          assert.isTrue(
            own.every(([name]) => name === "population.size" || name === "budget.usd" || name === "randomSeed")
          )
          // Copies of one seed are no further evidence.
          const bySeed = new Map(
            rows.toReversed().flatMap(({ run: { seed, tested } }) => (tested === null ? [] : [[seed, tested]]))
          )
          const values = [...bySeed.values()]
          assert.strictEqual(tested?.n ?? 0, values.length)
          if (tested === null || values.length < 2) continue
          const [low, high] = Exact.tInterval(values, 0.95) ?? [NaN, NaN]
          assert.closeTo(tested.ci95?.[0] ?? NaN, Math.max(0, low), 1e-9)
          assert.closeTo(tested.ci95?.[1] ?? NaN, Math.min(1, high), 1e-9)
        }
        const seeds = ({ rows }: RunRows.SeedGroup) =>
          new Set(rows.flatMap(({ run }) => (run.tested === null ? [] : [run.seed])))
        const shared = (one: RunRows.SeedGroup, other: RunRows.SeedGroup) =>
          [...seeds(one)].filter((seed) => seeds(other).has(seed)).length
        const reference = groups.find(({ isReference }) => isReference)
        if (reference === undefined) return assert.isEmpty(groups)
        for (const group of groups)
          assert.strictEqual(group.difference?.n ?? 0, group === reference ? 0 : shared(reference, group))
        // Without a difference, no two groups have finished runs of the same seed.
        if (groups.every(({ difference }) => difference === null))
          for (const one of groups)
            for (const other of groups) if (one !== other) assert.strictEqual(shared(one, other), 0)
      })
    )
  })
})
