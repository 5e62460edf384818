export * as Admission from "./Admission.ts"
export * as EvidencePruning from "./EvidencePruning.ts"
export * as Removal from "./Removal.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Pruned, Pruning } from "./Decisions.ts"
export type { Interface } from "./Replacement.ts"
