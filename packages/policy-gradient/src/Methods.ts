/** All methods of this package, from its registries: the rows of the reference page. */
import { estimators, furtherEstimators } from "./Advantage.ts"
import { corrections } from "./Corrections.ts"
import { credits } from "./Credits.ts"
import { groupRewards } from "./GroupRewards.ts"
import { keeps } from "./Keeps.ts"
import { losses } from "./Losses.ts"
import type { Method } from "./Method.ts"
import { differingGroups, successes } from "./Replay.ts"

/** A method with its family, and the setting that takes its name, if any. */
export interface Row extends Method {
  readonly family: string
  readonly setting: string | null
}

/** Every method, family by family. */
export const rows: ReadonlyArray<Row> = [
  ...[...estimators, ...furtherEstimators].map((method) => ({
    ...method,
    family: "advantage",
    setting: estimators.some(({ name }) => name === method.name) ? "train.advantage" : null
  })),
  ...Object.entries({
    loss: losses,
    credit: credits,
    keep: keeps,
    correction: corrections,
    reward: groupRewards,
    replay: [successes, differingGroups]
  }).flatMap(([family, methods]) => methods.map((method): Row => ({ ...method, family, setting: null })))
]
