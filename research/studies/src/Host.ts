import type { RunState, Strategies } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import type { Question, RandomStream, Trajectory } from "@inspo/domain"
import { type Effect, Schema } from "effect"

/** The program that executes a study; it fails with `E`. */
export interface Host<E, R> {
  /** The config of a preset with settings of the form `KEY=VALUE`. */
  readonly config: (preset: string, set: ReadonlyArray<string>) => Effect.Effect<RunConfig, E, R>
  /** The finished run of a config in its own directory: read, resumed or started; with strategies that no setting names, if any. */
  readonly run: (
    directory: string,
    config: RunConfig,
    strategies: Partial<Strategies.Strategies>
  ) => Effect.Effect<RunState.RunState, E, R>
  /** Where the trained policy of a finished run is: a model folder, or the table of a world. */
  readonly exported: (directory: string, config: RunConfig) => Effect.Effect<string, E, R>
  /**
   * The EM of each kept checkpoint of a finished run on the first test questions, with the best instruction at that step.
   * Evaluated after the run, so that it cannot influence the run.
   */
  readonly test: (directory: string, questions: number) => Effect.Effect<ReadonlyArray<TestPoint>, E, R>
  /** The wall time of a finished run, in seconds. */
  readonly seconds: (directory: string) => Effect.Effect<number, E, R>
  /**
   * Answers questions with the policy of a config and an instruction, without passages to search. The random stream of a
   * question has the path and its index. As trajectories finish, their `lines` are appended to `file`, which exists.
   */
  readonly answer: (
    config: RunConfig,
    asked: Asked,
    kept: Kept
  ) => Effect.Effect<ReadonlyArray<Trajectory.Trajectory>, E, R>
  /** The text of a file; null if it does not exist. */
  readonly read: (file: string) => Effect.Effect<string | null, E, R>
  /** Writes a file; creates missing directories. */
  readonly write: (file: string, text: string) => Effect.Effect<void, E, R>
  /** Prints lines for the user. */
  readonly print: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** The commit of the code, with `+` if files differ from it. */
  readonly commit: string
  /** The hash of the code of the runs. */
  readonly code: string
  /** The name of the program for the user. */
  readonly program: string
}

/** The questions of {@link Host.answer}. */
export interface Asked {
  readonly instruction: string
  readonly path: RandomStream.StreamPath
  readonly questions: ReadonlyArray<{ readonly index: number; readonly question: Question.Question }>
}

/** How {@link Host.answer} stores the answers. */
export interface Kept {
  readonly file: string
  readonly lines: (finished: ReadonlyArray<Trajectory.Trajectory>) => string
}

/** The EM on test questions after a step. */
export interface TestPoint {
  readonly step: number
  readonly em: number
}

/** The input of a study is invalid; nothing was started. */
export class InvalidStudy extends Schema.TaggedError<InvalidStudy>()("InvalidStudy", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** A run of a study ended without the result that the study needs. */
export class StudyFailure extends Schema.TaggedError<StudyFailure>()("StudyFailure", {
  problem: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.problem
  }
}
