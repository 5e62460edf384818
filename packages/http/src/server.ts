export * as Client from "./server/Client.ts"
export * as Credentials from "./server/Credentials.ts"
export * as Guard from "./server/Guard.ts"
export * as Malformed from "./server/Malformed.ts"
export * as OpenAiRefusal from "./server/OpenAiRefusal.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Guarded, Refusal } from "./server/Guard.ts"
export type { Refusal as OpenAiRefusalType } from "./server/OpenAiRefusal.ts"
