export * as Groups from "./testing/Groups.ts"
export * as Law from "./testing/Law.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Law as LawType, Options } from "./testing/Law.ts"
