export * as Credentials from "./Credentials.ts"
export * as Guard from "./Guard.ts"
export * as Malformed from "./Malformed.ts"
