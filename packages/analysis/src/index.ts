export * as DryRun from "./DryRun.ts"
export * as Plan from "./Plan.ts"
export * as Probe from "./Probe.ts"
export * as ProbeRollouts from "./ProbeRollouts.ts"
export * as Projection from "./Projection.ts"
export { verdict } from "./Verdict.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Probed } from "./ProbeRollouts.ts"
