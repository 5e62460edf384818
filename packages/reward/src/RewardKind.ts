import type { Choice, Spent } from "@inspo/domain"
import { type Duration, type Effect, type Result, Schema } from "effect"
import type { LanguageModel, Response } from "effect/ai"
import type { ChildProcessSpawner } from "effect/process"
import * as ResponseFormat from "./ResponseFormat.ts"
import type { RewardFunction } from "./RewardFunction.ts"
import { Scope } from "./Scope.ts"

/** A reward that a config can name: by itself, by a language model or by a program, which only runs that use it load. */
export type RewardKind<Name extends string = string> = Named<Name> & (OfAttempt | OfModel | OfProgram)

interface Named<Name extends string> extends Choice.Named {
  readonly name: Name
  /** What a mean of its rewards is called in tables and figures. */
  readonly label: string
  /** What it is, as an item of a list. */
  readonly description: string
}

interface OfAttempt {
  readonly needs: "attempt"
  readonly make: (options: RewardOptions) => RewardFunction
  /** How an answer alone is compared with the golden ones; without it, the reward depends on more. */
  readonly measure?: Measure
}

interface OfModel {
  readonly needs: "model"
  readonly load: () => Promise<
    (options: ModelOptions) => Effect.Effect<RewardFunction, never, LanguageModel.LanguageModel>
  >
}

interface OfProgram {
  readonly needs: "program"
  readonly load: () => Promise<
    (options: ProgramOptions) => Effect.Effect<RewardFunction, never, ChildProcessSpawner.ChildProcessSpawner>
  >
}

/**
 * - `name`: what errors call the reward; default `judge`.
 * - `criteria`: when an answer is right, in sentences, instead of `JudgePrompt.defaultCriteria`.
 * - `attempts`: how often a model that fails, or whose verdict cannot be read, is asked; default 3.
 * - `concurrency`: how many questions are put to it at once; default 8.
 * - `meter`: says what a call cost; without it a call costs the tokens that its answer names, at an unknown price.
 */
export interface ModelOptions {
  readonly scope: Scope
  readonly name?: string
  readonly criteria?: string
  readonly attempts?: number
  readonly concurrency?: number
  readonly meter?: Meter
}

/** Makes a call with a prompt of some texts, and says what it cost, also where it failed. */
export type Meter = <A extends { readonly text: string; readonly usage: Response.Usage }, E>(
  prompt: ReadonlyArray<string>,
  call: Effect.Effect<A, E>
) => Effect.Effect<readonly [result: Result.Result<A, E>, spent: Spent.Spent]>

/** `command` is a program and its arguments, started without a shell; `timeout` bounds one batch. */
export interface ProgramOptions {
  readonly name?: string
  readonly command: readonly [program: string, ...args: ReadonlyArray<string>]
  readonly timeout: Duration.Input
  readonly scope: Scope
}

/** Compares an answer with the golden answers; in [0, 1], and no lower with more of them. */
export type Measure = (answer: string, goldenAnswers: ReadonlyArray<string>) => number

/** How rewards of an attempt read it. */
export const RewardOptions = Schema.Struct({
  scope: Scope.annotate({
    description:
      "Where the answer is looked for: in what the policy itself wrote (`response`), in prompt and response " +
      "together as Search-R1 does (`searchr1`), or in the response with its observations as verl's port does " +
      "(`verl`)"
  }),
  format: ResponseFormat.FormatScores
})
export interface RewardOptions extends Schema.Schema.Type<typeof RewardOptions> {}

export const defaultOptions: RewardOptions = { scope: "response", format: ResponseFormat.defaultScores }
