export * as InstructionWeight from "./InstructionWeight.ts"
export * from "./InstructionWeightPolicy.ts"
export * as Population from "./Population.ts"
export * as Ranking from "./Ranking.ts"
