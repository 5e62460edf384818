export * from "./DatasetError.ts"
export * as SearchR1 from "./SearchR1.ts"
export * as World from "./World.ts"
export * as WorldQuestion from "./WorldQuestion.ts"
