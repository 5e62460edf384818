export * from "./Engine.ts"
export * as SpecialTokens from "./SpecialTokens.ts"
export type * from "./Tokenizer.ts"
export * as SharedCalls from "./SharedCalls.ts"
