export * as Bootstrap from "./Bootstrap.ts"
export * as Bounded from "./Bounded.ts"
export * as Exact from "./Exact.ts"
export * as Interval from "./Interval.ts"
export * as Moments from "./Moments.ts"
export * as PredictionPowered from "./PredictionPowered.ts"
export * as Skewed from "./Skewed.ts"
export * as Spread from "./Spread.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Bets } from "./Bounded.ts"
export type { Estimated } from "./Interval.ts"
