export * from "./Journal.ts"
