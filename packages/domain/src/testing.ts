export * as Law from "./testing/Law.ts"
