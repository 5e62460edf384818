export * as EvolutionLaws from "./testing/EvolutionLaws.ts"
export * as Lives from "./testing/Lives.ts"
