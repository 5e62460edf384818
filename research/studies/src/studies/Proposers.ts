import type { Study } from "../Study.ts"
import { evolved, historyProposer, paraphraseProposer, randomProposer } from "./Arms.ts"

/** Do failures help the proposer? */
export const proposers: Study = {
  name: "proposers",
  title: "What the proposer sees",
  arms: [evolved, paraphraseProposer, historyProposer, randomProposer],
  main: ["evolved", "paraphrase-proposer", "history-proposer", "random-proposer"],
  comparisons: [
    ["evolved", "paraphrase-proposer"],
    ["evolved", "history-proposer"],
    ["evolved", "random-proposer"]
  ],
  notes: ["All four use the same clauses, so they differ only in their input."]
}
