import { staticAlgorithm } from "@inspo/coevolution/StaticArm"
import { join, deploymentOf, type RunConfig } from "./RunConfig.ts"

/** The config of the static arm. Beside a run in a database it keeps a journal of its own, in a file. */
export const staticConfig = (config: RunConfig, rollouts: number): RunConfig =>
  join(staticAlgorithm(config, rollouts), { ...deploymentOf(config), journal: { url: null } })
