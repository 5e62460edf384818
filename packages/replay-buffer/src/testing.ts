/** Generated buffers, and the name of their type. */
export type { Contents } from "./ReplayBuffer.ts"
export * as Buffers from "./testing/Buffers.ts"
