export * as SuccessiveHalving from "./SuccessiveHalving.ts"
export * from "./SuccessiveHalvingPolicy.ts"
export * as Superiority from "./Superiority.ts"
