export * as AnytimePruning from "./AnytimePruning.ts"
export * as SuccessiveHalving from "./SuccessiveHalving.ts"
