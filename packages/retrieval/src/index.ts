export * from "./Search.ts"
