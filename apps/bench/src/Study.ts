import type { Question } from "@inspo/domain"
import type { Arm } from "./Arm.ts"
import type { Drawing } from "./Curves.ts"
import type { QuestionData } from "./Host.ts"

/** A controlled comparison: arms that differ in one thing, on the same seeds. */
export interface Study {
  /** Its name on the command line and of its result files. */
  readonly name: string
  readonly title: string
  /** Each after those it needs. */
  readonly arms: ReadonlyArray<Arm>
  /** The arms that run on all seeds; the others run on fewer. */
  readonly main: ReadonlyArray<string>
  /** The differences that are reported: the first arm minus the second, paired by seed. */
  readonly comparisons: ReadonlyArray<readonly [left: string, right: string]>
  /** What the paper finds, arm by arm, which the result judges with intervals that hold together. */
  readonly paper?: ReadonlyArray<readonly [higher: string, lower: string]>
  /** Paragraphs for whoever reads the result. */
  readonly notes: ReadonlyArray<string>
  /** Figures of the course of training that belong to the result. */
  readonly draws?: ReadonlyArray<Drawing>
  /** Whether no arm trains the policy. */
  readonly frozen?: true
  /** At most `count` questions that it asks in the place of those of the config, made from them or drawn; one in five is held out. */
  readonly questions?: (data: QuestionData, count: number) => ReadonlyArray<Question.Question>
  /** Whether test questions can be asked along training. */
  readonly tests?: true
}
