export * as AnswerExtraction from "./AnswerExtraction.ts"
export * as ScoredEpisode from "./ScoredEpisode.ts"
export * as ExactMatch from "./ExactMatch.ts"
export * as GroupRewards from "./GroupRewards.ts"
export * as ResponseFormat from "./ResponseFormat.ts"
export * from "./Reward.ts"
export * from "./RewardConfig.ts"
export * as RewardFunction from "./RewardFunction.ts"
export { RewardError, type Scored } from "./RewardFunction.ts"
export type { RewardKind } from "./RewardKind.ts"
export * as Rewards from "./Rewards.ts"
export * as SearchR1 from "./SearchR1.ts"
export * as JudgePrompt from "./JudgePrompt.ts"
export * from "./JudgeModels.ts"
export * as Judges from "./Judges.ts"

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { Attempt as AttemptOfGroup } from "./GroupReward.ts"
export type { RewardFunction as RewardFunctionType } from "./RewardFunction.ts"
export type { Measure, ModelOptions, ProgramOptions, RewardOptions } from "./RewardKind.ts"
export type {
  Ask as AskJudge,
  Criterion,
  Finding as FindingOfJudge,
  Judge,
  Judged,
  JudgeQuestion,
  Rubric
} from "./Judge.ts"
export type { ScoredEpisode as ScoredEpisodeType } from "./ScoredEpisode.ts"
