/** A test case, and what is done with it. */
import * as Scorers from "@inspo/evolve/Scorers"
import type { Message } from "@inspo/reflection/Provider"
import * as Template from "./Template.ts"

/** What the proposer may see of a case. */
export interface Case {
  readonly input: string
  readonly expected?: string
}

/** One of the scores of an output. */
export type Check =
  | { readonly kind: "built-in"; readonly scorer: Scorers.Scorer; readonly expected: string }
  | { readonly kind: "judge"; readonly rubric: string }
  | { readonly kind: "command"; readonly command: ReadonlyArray<string> }

export interface Job {
  readonly case: Case
  /** The values of the prompt's placeholders; null where the prompt is a system message and the input the user's. */
  readonly variables: Readonly<Record<string, string>> | null
  readonly checks: ReadonlyArray<Check>
}

/** The conversation in which a model answers a case under a prompt. */
export const messages = (prompt: string, job: Job): ReadonlyArray<Message> =>
  job.variables === null
    ? [
        { role: "system", text: prompt },
        { role: "user", text: job.case.input }
      ]
    : [{ role: "user", text: Template.fill(prompt, job.variables) }]

/** Why a check cannot use what a case expects, as a phrase after "expected"; null if it can. */
export const fault = (check: Check): string | null =>
  check.kind === "built-in" ? Scorers.fault(check.scorer, check.expected) : null

/** Whether an output is also graded by a model. */
export const isJudged = ({ checks }: Job): boolean => checks.some(({ kind }) => kind === "judge")
