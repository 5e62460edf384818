export * as VerificationLaws from "./testing/VerificationLaws.ts"
