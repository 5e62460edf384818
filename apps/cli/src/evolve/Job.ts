import type { ChildProgram } from "@inspo/outside"
import { Scorers } from "@inspo/evolve/parts"
import type { Provider } from "@inspo/reflection/models"
import type * as PromptfooScore from "./PromptfooScore.ts"
import type { Schema } from "effect"
import * as Template from "./Template.ts"

/** What the proposer may see of a case. */
export interface Case {
  readonly input: string
  readonly expected?: string
  /** The other columns, where an agent outside gets them. */
  readonly fields?: Readonly<Record<string, string>>
  readonly protected?: boolean
  /** Cases of one session are in the same half. */
  readonly session?: string
}

/** One of the scores of an output; its weight in their mean is 1 by default. */
export type Check =
  | { readonly kind: "built-in"; readonly scorer: Scorers.Scorer; readonly expected: string }
  | { readonly kind: "judge"; readonly rubric: string; readonly weight?: number }
  | ({ readonly kind: "promptfoo"; readonly weight?: number } & PromptfooScore.Assertion)
  | { readonly kind: "command"; readonly command: ChildProgram.Command }
  | { readonly kind: "label"; readonly label: number }

export interface Job {
  readonly case: Case
  /** The values of the columns; of a promptfoo config, the variables are the case. */
  readonly row?: Schema.Json
  /** Its place in its file, from 0. */
  readonly place?: number
  /**
   * What is filled in or follows: the values of the prompt's placeholders, the messages after the prompt as a system message, or an answer
   * that is judged by the prompt as a rubric.
   */
  readonly asked:
    | { readonly variables: Readonly<Record<string, string>> }
    | { readonly messages: ReadonlyArray<Provider.Message> }
    | { readonly judged: Omit<Scorers.Judged, "rubric"> }
  readonly checks: ReadonlyArray<Check>
}

/** The conversation in which a model answers a case under a prompt. */
export const messages = (prompt: string, { asked }: Job): ReadonlyArray<Provider.Message> =>
  "messages" in asked
    ? [{ role: "system", text: prompt }, ...asked.messages]
    : [
        {
          role: "user",
          text:
            "judged" in asked
              ? Scorers.judgeRequest({ rubric: prompt, ...asked.judged })
              : Template.fill(prompt, asked.variables)
        }
      ]

/** The whole case, as an agent outside reads it. */
export const rowOf = ({ asked, row }: Job): Schema.Json => row ?? ("variables" in asked ? asked.variables : null)

/** Why a check cannot use what a case expects, as a phrase after "expected"; null if it can. */
export const fault = (check: Check): string | null =>
  check.kind === "built-in" ? Scorers.fault(check.scorer, check.expected) : null

export const isJudged = ({ checks }: Job): boolean => checks.some(({ kind }) => kind === "judge")
