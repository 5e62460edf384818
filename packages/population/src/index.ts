export * as Blocks from "./Blocks.ts"
export * as Comparison from "./Comparison.ts"
export * as Difference from "./Difference.ts"
export * as MeanInterval from "./MeanInterval.ts"
export * as OwnEvidence from "./OwnEvidence.ts"
export * as Population from "./Population.ts"
export * as Ranking from "./Ranking.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Contents, Lifetime, Member, Value } from "./Contents.ts"
export type { Difference as DifferenceType } from "./Difference.ts"
