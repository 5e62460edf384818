import type { Study } from "../Study.ts"
import { ablation, evolved, historyProposer, paraphraseProposer, randomProposer, staticArm } from "./Arms.ts"

/** The paper's Figure 3: what happens when a part is left out. */
export const ablations: Study = {
  name: "ablation",
  title: "Ablations: stage, proposer, population",
  arms: [
    evolved,
    staticArm,
    ablation("ablation-pre-policy", "pre-policy", "stage: instructions evolve before the policy trains"),
    ablation("ablation-post-policy", "post-policy", "stage: instructions evolve after the policy has trained"),
    paraphraseProposer,
    historyProposer,
    randomProposer,
    ablation("ablation-constant-population", "constant-population", "population: the first one, to the end"),
    ablation("ablation-no-expansion", "no-expansion", "population: pruned, never refilled"),
    ablation(
      "ablation-no-verification",
      "no-verification",
      "population: pruned and refilled with unverified candidates"
    )
  ],
  main: [],
  comparisons: [
    ["evolved", "static"],
    ["evolved", "pre-policy"],
    ["evolved", "post-policy"],
    ["evolved", "paraphrase-proposer"],
    ["evolved", "history-proposer"],
    ["evolved", "random-proposer"],
    ["evolved", "constant-population"],
    ["evolved", "no-expansion"],
    ["evolved", "no-verification"]
  ],
  notes: ["All arms take the same number of steps, except `static`, which gets the rollouts of `evolved`."]
}
