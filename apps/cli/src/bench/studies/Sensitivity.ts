import type { Study } from "../Study.ts"
import { ablation, evolved } from "./Arms.ts"

/** The paper's Figure 6: how much two settings matter. */
export const sensitivity: Study = {
  name: "sensitivity",
  title: "Sensitivity to the number of parents and to the temperature of sampling",
  arms: [
    evolved,
    ablation("ablation-parents-2", "parents-2", "population.parents is 2"),
    ablation("ablation-parents-4", "parents-4", "population.parents is 4"),
    ablation("ablation-temperature-0.05", "temperature-0.05", "sampler.temperature is 0.05"),
    ablation("ablation-temperature-1", "temperature-1", "sampler.temperature is 1")
  ],
  main: [],
  comparisons: [
    ["evolved", "parents-2"],
    ["evolved", "parents-4"],
    ["evolved", "temperature-0.05"],
    ["evolved", "temperature-1"]
  ],
  notes: ["`evolved` has one parent and the temperature 0.2."]
}
