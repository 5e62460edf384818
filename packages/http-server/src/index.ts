export * as Credentials from "./Credentials.ts"
export * as Guard from "./Guard.ts"
