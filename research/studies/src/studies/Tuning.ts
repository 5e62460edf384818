import type { Arm } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved, staticArm } from "./Arms.ts"
import { withRate } from "./Rates.ts"
import { rivals } from "./StaticVsEvolved.ts"
import { grpo, rejectionSampling, sft, sftTool } from "./Table1.ts"

/** Peaks of the learning rate around the one that the preset `quick` has. */
const rates = [1e-4, 3e-4, 1e-3]

const main: ReadonlyArray<Arm> = [evolved, staticArm]

const atRate = (arm: Arm, rate: number): Arm => withRate(arm, (name) => `${name}-lr-${rate.toExponential()}`, rate)

const grid = (arms: ReadonlyArray<Arm>) => arms.flatMap((arm) => rates.map((rate) => atRate(arm, rate)))

/** The best learning rate of each arm, on seeds that no other study reports. */
export const tuning: Study = {
  name: "tuning",
  title: "The learning rate of each arm",
  arms: grid([...main, ...rivals, sft, grpo, sftTool, rejectionSampling]),
  main: grid(main).map(({ name }) => name),
  comparisons: rates.map((rate) => [atRate(evolved, rate).name, atRate(staticArm, rate).name] as const),
  notes: ["This study selects settings. `static-vs-evolved` and `table1` report the selected settings on other seeds."]
}
