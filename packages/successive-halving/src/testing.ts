export * as AdmissionLaws from "./testing/AdmissionLaws.ts"
export * as RemovalLaws from "./testing/RemovalLaws.ts"
