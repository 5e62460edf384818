import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Engine, type SampleRequest } from "@inspo/engine"
import { type ScoredPassage, Search } from "@inspo/retrieval"
import { layerExactMatch, type Reward } from "@inspo/reward"
import {
  defaultConfig,
  type Demonstration,
  layer,
  type LayerOptions,
  Rollout,
  type RolloutOptions
} from "@inspo/rollout"
import { ByteTokenizer, ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, identity, Layer } from "effect"

export const question: Question.Question = {
  id: Question.QuestionId.make("q"),
  question: "Where was the mayor born?",
  goldenAnswers: ["Ostrel Bay"],
  dataSource: "test"
}

export const instruction = Instruction.make("Say it.", { id: "i0" })

export const passage = (text: string, title = "T"): ScoredPassage => ({ passage: { id: text, title, text }, score: 1 })

/** Finds one passage for every query: `about {query}`. */
export const obliging: Search.Interface["search"] = (queries) =>
  Effect.succeed(queries.map((query) => [passage(`about ${query}`)]))

export interface Setup {
  readonly config?: RolloutOptions
  readonly search?: Search.Interface["search"]
  readonly options?: LayerOptions
  readonly reward?: Layer.Layer<Reward>
  readonly contextLength?: number
  readonly episodes?: number
  /** Makes the episodes members of one group. */
  readonly inGroup?: boolean
  readonly demonstration?: Demonstration.Demonstration
  /** Lets the engine stop at single tokens only. */
  readonly singleTokens?: boolean
  /** What the engine makes of the log-probabilities it should answer. */
  readonly scored?: (logprobs: ReadonlyArray<ReadonlyArray<number>>) => ReadonlyArray<ReadonlyArray<number>>
  readonly onFinished?: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void>
}

/** Plays episodes with what the policy writes after each prompt, and tells what it was asked. */
export const play = (script: ScriptedEngine.Script, setup: Setup = {}) => {
  const requests: Array<SampleRequest> = []
  const scripted = ScriptedEngine.make(script, { concurrency: 64, contextLength: setup.contextLength ?? 4096 })
  const engine: Engine.Interface = {
    ...scripted,
    profile: { ...scripted.profile, ...(setup.singleTokens === true ? { stopTexts: "single-token" } : {}) },
    score: (policy, sequences) => Effect.map(scripted.score(policy, sequences), setup.scored ?? identity),
    sample: (asked) => {
      requests.push(...asked)
      return scripted.sample(asked)
    }
  }
  return Rollout.pipe(
    Effect.flatMap(({ collect }) =>
      collect(
        Array.from({ length: setup.episodes ?? 1 }, (_, index) => ({
          id: Trajectory.TrajectoryId.make(`test/${index}`),
          instruction,
          question,
          seed: `${index}`,
          ...(setup.inGroup === true ? { member: index } : {}),
          ...(setup.demonstration === undefined ? {} : { demonstration: setup.demonstration })
        })),
        setup.onFinished === undefined ? {} : { onFinished: setup.onFinished }
      )
    ),
    Effect.map((trajectories) => ({
      trajectories,
      requests,
      prompts: requests.map(({ prompt }) => ByteTokenizer.tokenizer.decode(prompt))
    })),
    Effect.provide(
      layer({ ...defaultConfig, ...setup.config }, setup.options).pipe(
        Layer.provide([
          Layer.succeed(Engine, engine),
          Layer.succeed(Search, { search: setup.search ?? obliging }),
          setup.reward ?? layerExactMatch
        ])
      ),
      { local: true }
    )
  )
}
