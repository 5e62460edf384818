export * as Admission from "./Admission.ts"
export * as EvidencePruning from "./EvidencePruning.ts"
export * as Removal from "./Removal.ts"
