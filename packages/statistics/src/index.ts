export * as Bootstrap from "./Bootstrap.ts"
export * as Exact from "./Exact.ts"
export * as Interval from "./Interval.ts"
export * as Spread from "./Spread.ts"
