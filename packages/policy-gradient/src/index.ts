export * as Advantage from "./Advantage.ts"
export * as Corrections from "./Corrections.ts"
export * as Credits from "./Credits.ts"
export * as GrpoBatch from "./GrpoBatch.ts"
export * as Keeps from "./Keeps.ts"
export * as LearningRate from "./LearningRate.ts"
export * as Losses from "./Losses.ts"
export * from "./TrainConfig.ts"
export * as Weighing from "./Weighing.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Estimator, Group } from "./Estimator.ts"
