export * as ReplayBuffer from "./ReplayBuffer.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Interface } from "./ReplayBuffer.ts"
