/** What a comparison, or the final test of a search, shows over its calls, with the bound that decides. */
import { points as unsigned, type SearchView } from "@inspo/evolve/SearchView"
import { points } from "@inspo/report"
import type { Figure, Line } from "./Figure.ts"
import type { PromptComparison } from "./view/PromptComparison.ts"

/** The evidence for what a comparison can show: a claim is shown from the bound on. */
export const ofComparison = ({
  bound,
  candidates,
  margin
}: Pick<PromptComparison, "bound" | "margin"> & {
  readonly candidates: ReadonlyArray<Pick<PromptComparison["candidates"][number], "course">>
}): Figure => {
  const calls = candidates[0]?.course.map((look) => look.calls) ?? []
  const claims = [
    ["better", "better"],
    ["no-worse", `no worse by ${unsigned(margin)}`],
    ["worse", "worse"]
  ] as const
  const curves = candidates.flatMap(({ course }, candidate) =>
    claims.map(([claim, title], at) => ({
      label: candidates.length === 1 ? title : `${candidate + 1}: ${title}`,
      values: [0, ...course.map(({ evidence }) => Math.max(-2, evidence[claim]))],
      tone: `c${(claims.length * candidate + at) % 8}`
    }))
  )
  return {
    ...overCalls("Evidence, power of ten", "evidence, power of ten", calls, bound, curves),
    format: (value) => value.toFixed(1)
  }
}

/** The gain on held-out cases: it is shown where the whole interval of the last look is above the bound. */
export const ofTest = (
  { course }: Pick<NonNullable<SearchView["test"]>, "course">,
  aim: SearchView["aim"]
): Figure => ({
  ...overCalls(
    "Gain on held-out cases, with 90 % interval",
    "points",
    course.map(({ calls }) => calls),
    aim === undefined ? 0 : -aim.margin,
    [
      {
        label: "gain",
        values: [null, ...course.map(({ gain }) => gain.mean)],
        band: [null, ...course.map(({ gain: { lower, upper } }) => [lower, upper] as const)],
        tone: "accent"
      }
    ]
  ),
  format: points
})

const overCalls = (
  title: string,
  vertical: string,
  calls: ReadonlyArray<number>,
  bound: number,
  curves: ReadonlyArray<Line>
): Figure => ({
  title,
  steps: [0, ...calls],
  horizontal: { title: "calls of the agent", format: String },
  vertical,
  curves: [...curves, { label: "enough", values: [bound, ...calls.map(() => bound)], tone: "faint", dash: [4, 4] }]
})
