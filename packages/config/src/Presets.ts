/** The presets on this machine: their algorithms in the deployment {@link local}. */
import { type Algorithm, Presets as Algorithms } from "@inspo/coevolution"
import { Record } from "effect"
import { local } from "./Deployment.ts"
import { join, type RunConfig } from "./RunConfig.ts"

export const { purposes } = Algorithms

const here = (algorithm: Algorithm): RunConfig => join(algorithm, local)

export const robust = here(Algorithms.robust)
export const paper = here(Algorithms.paper)
export const paper7b = here(Algorithms.paper7b)
export const quick = here(Algorithms.quick)
export const tiny = here(Algorithms.tiny)

/** The presets by their names on the command line. */
export const byName: Record.ReadonlyRecord<string, RunConfig> = Record.map(Algorithms.byName, here)
