export * as EstimatorLaws from "./testing/EstimatorLaws.ts"
export * as SurrogateLaws from "./testing/SurrogateLaws.ts"
