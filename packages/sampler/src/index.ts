export * as Choose from "./Choose.ts"
export * as QuestionStream from "./QuestionStream.ts"
export * as Sampler from "./Sampler.ts"
export * as Shares from "./Shares.ts"
