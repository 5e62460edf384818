export * as SuccessiveHalving from "./SuccessiveHalving.ts"
export * from "./SuccessiveHalvingPolicy.ts"
