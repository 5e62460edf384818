export { evolve } from "./Evolve.ts"
export { AgentFailed, FileFailed, ScoreFailed } from "./Failure.ts"
export type {
  AiSdkModel,
  CallContext,
  Complete,
  Completion,
  EvolveOptions,
  Progress,
  Prompt,
  Scored
} from "./Options.ts"
export type { EvolveResult, Tried } from "./Result.ts"
export type { Gain } from "./SearchView.ts"
