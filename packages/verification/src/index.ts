export * as EarlyStop from "./EarlyStop.ts"
export * as Verification from "./Verification.ts"
export * from "./VerificationPolicy.ts"
