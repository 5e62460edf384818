import type { CompareResult } from "@inspo/evolve"
import type { Figure } from "@inspo/dashboard"

/** The evidence for what a comparison can show over its calls, with the bound from which on it is shown. */
export const figureOf = ({
  bound,
  candidates,
  margin
}: Pick<CompareResult, "bound" | "candidates" | "margin">): Figure => {
  const calls = candidates[0]?.course.map((look) => look.calls) ?? []
  const claims = [
    ["better", "better"],
    ["no-worse", `no worse by ${margin}`],
    ["worse", "worse"]
  ] as const
  return {
    title: "Evidence",
    steps: [0, ...calls],
    horizontal: { title: "calls of the agent", format: String },
    vertical: "evidence, power of ten",
    curves: [
      ...candidates.flatMap(({ course }, candidate) =>
        claims.map(([claim, title], at) => ({
          label: candidates.length === 1 ? title : `${candidate + 1}: ${title}`,
          values: [0, ...course.map(({ evidence }) => Math.max(-2, evidence[claim]))],
          tone: `c${(claims.length * candidate + at) % 8}`
        }))
      ),
      { label: "enough", values: [bound, ...calls.map(() => bound)], tone: "faint", dash: [4, 4] }
    ]
  }
}
