import type { Study } from "../Study.ts"
import { evolved, staticArm } from "./Arms.ts"

/** The paper's Figures 2 and 5: training step by step. */
export const curves: Study = {
  name: "curves",
  title: "Training curves",
  arms: [evolved, staticArm],
  main: [],
  comparisons: [["evolved", "static"]],
  notes: [
    "The figures next to this page show the mean of the seeds at every step with its 95 % t-interval. `static` has more steps, " +
      "since it uses the rollouts that `evolved` uses for verification. `test-em.svg` (with `--test-questions`) shows the EM of " +
      "every kept checkpoint on the first test questions, with the best instruction at its step."
  ],
  draws: [
    { metric: "reward/mean", title: "Training reward" },
    { metric: "tool_calls/mean", title: "Tool calls per trajectory" },
    { metric: "prompt_length/mean", title: "Prompt length, tokens" },
    { metric: "response_length/mean", title: "Response length, tokens" }
  ]
}
