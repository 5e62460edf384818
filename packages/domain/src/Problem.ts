import { Schema } from "effect"
import { sentence } from "./InvalidInput.ts"

/** What is wrong with something given: the field, its value, what was expected and, where it is known, how to fix it. */
export interface Problem {
  readonly field: string
  readonly value: string
  readonly expected: string
  readonly remedy?: string
}

/** The fields of an error that is a problem. */
export const fields = {
  field: Schema.String,
  value: Schema.String,
  expected: Schema.String,
  remedy: Schema.optionalKey(Schema.String)
}

/** A problem in one sentence, with its remedy as a second one. */
export const words = (problem: Problem): string =>
  problem.remedy === undefined ? sentence(problem) : `${sentence(problem)}. ${problem.remedy}`
