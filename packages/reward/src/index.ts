export * as AnswerExtraction from "./AnswerExtraction.ts"
export * as ExactMatch from "./ExactMatch.ts"
export * from "./Reward.ts"
