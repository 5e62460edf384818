export * as Populations from "./testing/Populations.ts"
export * as ValueLaws from "./testing/ValueLaws.ts"
