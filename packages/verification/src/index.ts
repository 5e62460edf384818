export * as Verification from "./Verification.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Evidence, Interface, Options, Plan, Progress, Verdict } from "./Verification.ts"
