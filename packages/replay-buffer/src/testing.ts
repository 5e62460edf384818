/** The laws of replay buffers, generated buffers, and the name of their type. */
export type { Contents } from "./ReplayBuffer.ts"
export * as BufferLaws from "./testing/BufferLaws.ts"
export * as Buffers from "./testing/Buffers.ts"
