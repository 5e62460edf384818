import { StaticArm } from "@inspo/coevolution"
import { join, deploymentOf, type RunConfig } from "./RunConfig.ts"

/** The config of the static arm. Its journal is always a separate file, also if the run is in a database. */
export const staticConfig = (config: RunConfig, rollouts: number): RunConfig =>
  join(StaticArm.staticAlgorithm(config, rollouts), { ...deploymentOf(config), journal: { url: null } })
