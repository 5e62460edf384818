export * as Verification from "./Verification.ts"
