export * as Pruning from "./Pruning.ts"
export * as World from "./World.ts"
