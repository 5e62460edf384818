export * from "./Engine.ts"
export type * from "./Tokenizer.ts"
