/** What every method of policy optimization says about itself: the row of the reference page. */
import * as InvalidInput from "./InvalidInput.ts"

/** A constant of a method; null where no published value is known, so that it must be given. */
export type Constant = number | boolean | string | ReadonlyArray<number> | Readonly<Record<string, number>> | null

/** A constant without a published value. */
export const unknown: number | null = null

/**
 * The constants of a method with a judge: its language model, as in `policy.model`; what it looks for, in sentences, or empty for
 * the built-in criteria; and the share of its questions that it is asked twice, which measures its noise.
 */
export const judged: { readonly model: string; readonly criteria: string; readonly again: number } = {
  model: "",
  criteria: "",
  again: 0.1
}

/** A switch that is on by default. */
export const on: boolean = true

/** A switch that is off by default. */
export const off: boolean = false

/** The constants of a method, by name. */
export type Constants = Readonly<Record<string, Constant>>

/** How certain a formula is: read in the authors' `code`, in the `text` of their paper, or `part` of it is not published. */
export type Certainty = "code" | "text" | "part"

export interface Method<Name extends string = string, C extends Constants = Constants> {
  /** What a setting calls it. */
  readonly name: Name
  /** What it does, as the rest of a sentence that begins with its name. */
  readonly description: string
  /** The formula in one line. */
  readonly formula: string
  /** Who published it, and where. */
  readonly source: string
  readonly certainty: Certainty
  /** What verl calls it. */
  readonly verl?: string
  /** What TRL calls it. */
  readonly trl?: string
  /** What it needs beyond rewards, tokens and log-probabilities. */
  readonly needs?: string
  /** Whether a run has what it needs. */
  readonly isSupplied?: boolean
  /** The judge that gives what it needs, where its constant `model` names a language model. */
  readonly judge?: string
  /** Whether instructions may share a group; by default it compares rollouts of one instruction. */
  readonly allowsLevels?: boolean
  /** Whether it gives tokens of a whole step their own values; by default it gives them to turns of a group. */
  readonly isOfTokens?: boolean
  /** Whether, as a reward of a group, it is 0 or more where those of the rollouts are; by default it can be below. */
  readonly isNeverNegative?: boolean
  /** Whether, as a reward of a group, it does not depend on those of the rollouts; by default it does. */
  readonly replacesRewards?: boolean
  /** Its constants as published. */
  readonly defaults: C
}

/** The value of a constant without a published default, or of an input that only some methods need. Throws where it is missing. */
export const required = <A>(where: string, field: string, value: A | null | undefined): A =>
  value ?? InvalidInput.refuse({ where, field, value, expected: "a value: this method has no default for it" })

/** A method that is one function of its input. */
export interface Rule<In, Out, Name extends string = string, C extends Constants = Constants> extends Method<Name, C> {
  of(this: void, input: In, constants?: Partial<C>): Out
}

/** Makes rules of one family, each from its description and its function of all constants. */
export const rules =
  <In, Out>() =>
  <const Name extends string, C extends Constants>({
    compute,
    ...method
  }: Omit<Rule<In, Out, Name, C>, "of"> & {
    readonly compute: (input: In, constants: C) => Out
  }): Rule<In, Out, Name, C> => ({
    ...method,
    of: (input, constants) => compute(input, { ...method.defaults, ...constants })
  })
