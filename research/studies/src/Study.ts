import type { Question } from "@inspo/domain"
import type { Arm } from "./Arm.ts"
import type { Drawing } from "./Curves.ts"

/** Differences at each value of a dial: the first arm minus the second, paired by seed. */
export interface Dial {
  readonly values: ReadonlyArray<number>
  readonly lines: ReadonlyArray<{
    readonly label: string
    readonly pairs: ReadonlyArray<readonly [left: string, right: string]>
  }>
}

/** A controlled comparison: arms that differ in one thing, on the same seeds. */
export interface Study {
  /** Its name on the command line and of its result files. */
  readonly name: string
  readonly title: string
  /** Each after those it needs. */
  readonly arms: ReadonlyArray<Arm>
  /** The arms that run on all seeds, all by default; the others may run on fewer. */
  readonly main?: ReadonlyArray<string>
  /** The differences that are reported: the first arm minus the second, paired by seed. */
  readonly comparisons: ReadonlyArray<readonly [left: string, right: string]>
  /** Claims that one arm is above another, which the result tests with simultaneous intervals. */
  readonly claims?: ReadonlyArray<readonly [higher: string, lower: string]>
  /** Paragraphs for the readers of the result. */
  readonly notes: ReadonlyArray<string>
  /** Figures of the training; those of the answers of its checkpoints to test questions may be asked for. */
  readonly draws?: ReadonlyArray<Drawing>
  /** A figure of differences against a dial. */
  readonly dial?: Dial
  /** The data source of the test questions that count; all by default. */
  readonly source?: string
  /** Whether no arm trains the policy. */
  readonly frozen?: true
  /** Generates the questions that replace those of the config; one in five is held out. */
  readonly questions?: (count: number) => ReadonlyArray<Question.Question>
  /** Metrics of `metrics.jsonl` whose means over the steps are reported, beside the time of a run. */
  readonly measures?: ReadonlyArray<{ readonly metric: string; readonly title: string; readonly digits: number }>
  /** Whether it is reported when each run took off. */
  readonly takesOff?: true
}
