export * as Client from "./server/Client.ts"
export * as Credentials from "./server/Credentials.ts"
export * as Guard from "./server/Guard.ts"
export * as Malformed from "./server/Malformed.ts"
