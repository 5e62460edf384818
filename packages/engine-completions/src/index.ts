export * from "./CompletionsEngine.ts"
export * as Wire from "./Wire.ts"
