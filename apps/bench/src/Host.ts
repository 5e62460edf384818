import type { RunState } from "@inspo/coevolution/RunState"
import type { RunConfig } from "@inspo/config"
import type { Question, RandomStream, Trajectory } from "@inspo/domain"
import { type Effect, Schema } from "effect"

/** What a study needs of the program that starts it, which fails with `E`. */
export interface Host<E, R> {
  /** The config of a preset under settings of the form `KEY=VALUE`. */
  readonly config: (preset: string, set: ReadonlyArray<string>) => Effect.Effect<RunConfig, E, R>
  /** The finished run of a config in a directory of its own: read, continued or made. */
  readonly run: (directory: string, config: RunConfig) => Effect.Effect<RunState, E, R>
  /**
   * How many of the first test questions the policy of each kept checkpoint of a finished run gets right, under the
   * instruction that was best at that step. Asked when the run is over, so that nothing in it was decided by them.
   */
  readonly test: (directory: string, questions: number) => Effect.Effect<ReadonlyArray<TestPoint>, E, R>
  /** The questions of a config, of all splits, with its passages. */
  readonly data: (config: RunConfig) => Effect.Effect<QuestionData, E, R>
  /**
   * Lets the policy of a config, as it is, answer questions under an instruction, without passages to search. A question
   * draws from the stream of the path and its index. What `lines` makes of trajectories is put at the end of `file`, which
   * is there, as they finish.
   */
  readonly answer: (
    config: RunConfig,
    asked: Asked,
    kept: Kept
  ) => Effect.Effect<ReadonlyArray<Trajectory.Trajectory>, E, R>
  /** A whole file, or null where there is none. */
  readonly read: (file: string) => Effect.Effect<string | null, E, R>
  /** Writes a whole file, below directories that are made where they are missing. */
  readonly write: (file: string, text: string) => Effect.Effect<void, E, R>
  /** Lines for whoever waits. */
  readonly tell: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Hash of the code that makes the runs. */
  readonly code: string
  /** How the user calls the program. */
  readonly program: string
}

/** The questions of a config, with its passages. */
export interface QuestionData {
  readonly questions: ReadonlyArray<Question.Question>
  readonly passages: ReadonlyArray<Question.Passage>
}

/** What {@link Host.answer} asks. */
export interface Asked {
  readonly instruction: string
  readonly path: RandomStream.StreamPath
  readonly questions: ReadonlyArray<{ readonly index: number; readonly question: Question.Question }>
}

/** What {@link Host.answer} keeps of the answers, and where. */
export interface Kept {
  readonly file: string
  readonly lines: (finished: ReadonlyArray<Trajectory.Trajectory>) => string
}

/** EM on test questions after so many steps of training. */
export interface TestPoint {
  readonly step: number
  readonly em: number
}

/** A study cannot be made as it was asked for; nothing was started. */
export class InvalidStudy extends Schema.TaggedError<InvalidStudy>()("InvalidStudy", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** A run of a study ended without what the study needs of it. */
export class StudyFailure extends Schema.TaggedError<StudyFailure>()("StudyFailure", {
  problem: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.problem
  }
}
