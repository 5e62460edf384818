import { type Arm, single } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved } from "./Arms.ts"

const withParents = (parents: number): Arm =>
  single(`parents-${parents}`, `population.parents is ${parents}; a random one is revised in each round`, (config) => ({
    ...config,
    population: { ...config.population, parents },
    selection: { ...config.selection, parent: "random" }
  }))

const withTemperature = (temperature: number): Arm =>
  single(`temperature-${temperature}`, `selection.temperature is ${temperature}`, (config) => ({
    ...config,
    selection: { ...config.selection, temperature }
  }))

/** Rollouts of a step are sampled while the step before it trains, where nothing else is due between them. */
const asynchronous = single("staleness-1", "train.staleness is 1", (config) => ({
  ...config,
  train: { ...config.train, staleness: 1 }
}))

const parents = [2, 3, 4].map(withParents)
const temperatures = [0.05, 1].map(withTemperature)
const others = [...parents, ...temperatures].map(({ name }) => ["evolved", name] as const)

const drawing = (file: string, arms: ReadonlyArray<Arm>) => ({
  file,
  metric: "reward/mean",
  title: "Training reward",
  arms: ["evolved", ...arms.map(({ name }) => name)]
})

/** The paper's Figure 6: how much two settings matter; and how much it matters to sample before the last update. */
export const sensitivity: Study = {
  name: "sensitivity",
  title: "Sensitivity to the number of parents, the temperature of sampling and the staleness of samples",
  arms: [evolved, ...parents, ...temperatures, asynchronous],
  main: [],
  comparisons: [...others, ["evolved", asynchronous.name]],
  claims: others,
  notes: [
    "`evolved` has one parent, which does best in the paper, and the temperature 0.2, which it chooses as a balance."
  ],
  draws: [drawing("parents-reward", parents), drawing("temperature-reward", temperatures)]
}
