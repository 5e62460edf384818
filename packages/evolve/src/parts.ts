/** What programs around a search use: files of cases and of searches, ready-made scores, and the bounds of a search. */
export * as Cases from "./Cases.ts"
export * as Compare from "./Compare.ts"
export * as Comparison from "./Comparison.ts"
export * as Judged from "./Judged.ts"
export * as Protected from "./Protected.ts"
export * as Scorers from "./Scorers.ts"
export * as Sessions from "./Sessions.ts"
export * as Setup from "./Setup.ts"
export * as Stored from "./Stored.ts"
export * as Viewing from "./Viewing.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Answered, Ask } from "./Event.ts"
