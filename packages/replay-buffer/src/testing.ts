export * as Buffers from "./testing/Buffers.ts"
