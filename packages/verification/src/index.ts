export * as Verification from "./Verification.ts"
export * from "./VerificationPolicy.ts"
