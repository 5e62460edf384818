export * as Advantage from "./Advantage.ts"
export * as GrpoBatch from "./GrpoBatch.ts"
export * as LearningRate from "./LearningRate.ts"
export * from "./TrainConfig.ts"
