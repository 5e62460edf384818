import { metrics } from "../Curves.ts"
import type { Study } from "../Study.ts"
import { evolved, staticArm } from "./Arms.ts"

/** The paper's Figures 2 and 5: how training goes, step by step. */
export const curves: Study = {
  name: "curves",
  title: "How training goes",
  arms: [evolved, staticArm],
  main: [],
  comparisons: [["evolved", "static"]],
  notes: [
    "The figures beside this page show the mean of the seeds at every step, in its 95 % t-interval. `static` takes more steps, " +
      "since it spends on them what `evolved` spends on verification. `test-em.svg`, where it was asked for, shows what every " +
      "kept checkpoint gets right of the first test questions under the instruction that was best at its step."
  ],
  draws: metrics.map(({ metric, title }) => ({
    file: metric.replace("/", "-"),
    metric,
    title,
    arms: ["evolved", "static"]
  })),
  tests: true
}
