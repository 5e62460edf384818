export * as Memory from "./Memory.ts"
export * as ReplayBuffer from "./ReplayBuffer.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Interface } from "./ReplayBuffer.ts"
export type { Rewarded } from "./Memory.ts"
