import { SearchR1 } from "@inspo/datasets"
import { Effect, Result, Stream } from "effect"
import { type UsageError, usageError } from "../Failure.ts"

export interface RowPrompt {
  readonly instruction: string
  /** Contains `{instruction}` and `{question}`. */
  readonly template: string
}

/** The number of rows that are checked; the others are assumed to be the same. */
const sampled = 100

/**
 * Reads instruction and template from the prompts of Search-R1 rows: an instruction, `Question: `, and the row's question.
 * Fails if a prompt has another form, or if the rows have different texts.
 */
export const read = Effect.fn("RowPrompt.read")(function* (file: string) {
  const rows = yield* SearchR1.questions(file, { prompts: true }).pipe(
    Stream.take(sampled),
    Stream.runCollect,
    Effect.mapError((cause) => usageError(cause.message, cause))
  )
  const prompts = yield* Effect.forEach(rows, (row) => Effect.fromResult(promptOf(file, row)))
  const [first] = prompts
  if (first === undefined) return yield* usageError(`${file} has no rows, expected one with a prompt.`)
  const other = prompts.findIndex(
    (prompt) => prompt.instruction !== first.instruction || prompt.template !== first.template
  )
  if (other < 0) return first
  return yield* usageError(
    `${file}: the prompts of ${rows[other]?.id} and ${rows[0]?.id} begin or end differently, expected one ` +
      "instruction and template for all. Set seedInstruction and rollout.texts.prompt to texts."
  )
})

const promptOf = (
  file: string,
  { id, prompt, question }: SearchR1.FileQuestion
): Result.Result<RowPrompt, UsageError> => {
  const said = prompt?.findLast(({ role }) => role === "user")?.content
  const [, instruction = "", before = "", asked = "", after = ""] =
    /^(.*?\S)(\s+Question: )(.*?)(\s*)$/su.exec(said ?? "") ?? []
  if (asked !== "" && asked === question)
    return Result.succeed({ instruction, template: `{instruction}${before}{question}${after}` })
  return Result.fail(
    usageError(
      said === undefined
        ? `${file}: the row ${id} has no prompt with a user message, expected one as in Search-R1's rows.`
        : `${file}: the prompt of ${id} is ${JSON.stringify(said)}, expected an instruction, then "Question: " and ` +
            `${JSON.stringify(question)}. Set seedInstruction and rollout.texts.prompt to texts.`
    )
  )
}
