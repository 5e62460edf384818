export * as EvidencePruning from "./EvidencePruning.ts"
export * as SuccessiveHalving from "./SuccessiveHalving.ts"
