/**
 * Golden traces: what both readings decide where the paper leaves something open, on rewards small enough to follow by hand.
 * The rows are those of docs/algorithm.md.
 *
 * Unless a trace says otherwise: n = 5 steps, and τ_s = 0.2 / ln 2, so that p_j is in proportion to 2^(5 w_j).
 */
import { assert, it } from "@effect/vitest"
import { Presets, type Algorithm } from "@inspo/coevolution"
import { play, type Script, type Step, type Trace } from "./Trace.ts"

const { paper, robust } = Presets

/** The two columns of the specification. */
export const presets = [
  ["paper", paper],
  ["robust", robust]
] as const

/** The other reading of each point that the paper leaves open, where values are averages and candidates are verified. */
export const other: Algorithm = {
  ...robust,
  selection: { ...robust.selection, average: "steps", shares: "softmax", removal: "bottom-half", rounds: 5 },
  verification: { samples: 200 },
  rollout: { ...robust.rollout, instructionsPerQuestion: 1 }
}

/** Both readings. */
export const both: ReadonlyArray<readonly ["paper" | "other", Algorithm]> = [
  ["paper", paper],
  ["other", other]
]

/** Overrides of a preset, section by section. */
export type Change = { readonly [Section in keyof Algorithm]?: Partial<Algorithm[Section]> }

/** A preset at the scale of a trace. */
export const small = (preset: Algorithm, change: Change): Algorithm => ({
  ...preset,
  population: { ...preset.population, size: 2, ...change.population },
  selection: { ...preset.selection, temperature: 0.2 / Math.LN2, ...change.selection },
  schedule: { ...preset.schedule, steps: 99, pruneEvery: 0, evolveEvery: 0, ...change.schedule },
  verification: { ...preset.verification, samples: 3, ...change.verification },
  train: { ...preset.train, batchSize: 4 },
  evaluation: { ...preset.evaluation, questions: 0, every: 0, select: "last", ...change.evaluation }
})

/** What is expected of each step; what is left out is not what the row is about. */
export type Expected = ReadonlyArray<Partial<Step>>

/** One trace of a row for each reading. */
export const golden = (
  row: number,
  name: string,
  scenario: Script & { readonly change?: Change },
  expected: Readonly<Record<"paper" | "other", Expected>>
): void => {
  for (const [reading, preset] of both)
    it(`row ${row}: ${name} (${reading})`, () => {
      assertSteps(play(small(preset, scenario.change ?? {}), scenario), expected[reading])
    })
}

/** Where both decide alike. */
export const same = (expected: Expected) => ({ paper: expected, other: expected })

const assertSteps = ({ steps }: Trace, expected: Expected): void => {
  assert.strictEqual(steps.length, expected.length)
  for (const [index, { p, w, ...decided }] of expected.entries()) {
    const step = steps[index]
    assertNumbers(step?.p, p)
    assertNumbers(step?.w, w)
    assert.deepInclude(step, decided)
  }
}

const assertNumbers = (actual: Step["p"] = {}, expected: Step["p"] = actual): void => {
  assert.deepStrictEqual(Object.keys(actual), Object.keys(expected))
  for (const [id, value] of Object.entries(expected)) assert.approximately(actual[id] ?? NaN, value, 1e-12)
}

/** `count` steps alike. */
export const every = <A>(count: number, step: A): ReadonlyArray<A> => Array.from({ length: count }, () => step)
