export * as PruningLaws from "./testing/PruningLaws.ts"
