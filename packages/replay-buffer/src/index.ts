export * as ReplayBuffer from "./ReplayBuffer.ts"
export * from "./ReplayBufferPolicy.ts"
