/** All methods of this package, from its registries: the rows of the reference page. */
import { estimators, furtherEstimators } from "./Advantage.ts"
import type { Method } from "./Method.ts"

/** A method with its family, and the setting that takes its name, if any. */
export interface Row extends Method {
  readonly family: "advantage"
  readonly setting: string | null
}

/** Every method, family by family. */
export const rows: ReadonlyArray<Row> = [
  ...estimators.map((method) => ({ ...method, family: "advantage", setting: "train.advantage" }) as const),
  ...furtherEstimators.map((method) => ({ ...method, family: "advantage", setting: null }) as const)
]
