export * as Pruning from "./Pruning.ts"
export * as Verification from "./Verification.ts"
export * as World from "./World.ts"
