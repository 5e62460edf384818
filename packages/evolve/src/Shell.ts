/** What `evolve()` and `compare()` do around their state machines: they read cases, check options and keep promises. */
import { readFile } from "node:fs/promises"
import { type Instruction, InvalidInput } from "@inspo/domain"
import { Cause, Effect, Exit } from "effect"
import * as Calls from "./Calls.ts"
import * as Cases from "./Cases.ts"
import * as Setup from "./Setup.ts"

/** The promise of an effect, which rejects with what failed, or with the reason of the signal. */
export const promise = async <A>(effect: Effect.Effect<A, unknown>, signal?: AbortSignal): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (signal?.aborted === true) throw signal.reason
  throw Cause.squash(exit.cause)
}

/** The different cases, of a file if it is named. */
export const casesOf = (cases: string | Iterable<unknown>) =>
  Effect.promise(async () =>
    Setup.distinct(
      typeof cases === "string" ? Cases.parseFile(cases, Cases.decode(cases, await readFile(cases))) : cases
    )
  )

/** The texts of a prompt; refuses those that no agent can use. */
export const contentOf = (where: string, field: string, prompt: Setup.Prompt): Instruction.Content => {
  const texts = typeof prompt === "string" ? { [field]: prompt } : prompt
  for (const [name, text] of Object.entries(texts))
    if (typeof text !== "string" || text.trim() === "" || text.length > longest)
      InvalidInput.refuse({
        where,
        field: name,
        value: typeof text !== "string" ? text : text.length > longest ? `${text.length} characters` : "empty",
        expected: `a text of 1 to ${longest.toLocaleString("en-US")} characters`
      })
  if (Object.keys(texts).length === 0)
    InvalidInput.refuse({ where, field, value: prompt, expected: "at least one text" })
  return prompt
}

const longest = 100_000

/** How calls are made. */
export const limitsOf = (
  where: string,
  {
    concurrency = 8,
    retries = 3,
    retryAfter = Calls.retryAfter,
    timeoutSeconds = 120
  }: Pick<Setup.EvolveOptions<Setup.Prompt, never, never>, "concurrency" | "retries" | "retryAfter" | "timeoutSeconds">
): Omit<Calls.Limits, "calls" | "usd"> => {
  InvalidInput.assertCount(where, "concurrency", concurrency, 1)
  InvalidInput.assertCount(where, "retries", retries, 0)
  if (!(timeoutSeconds > 0))
    InvalidInput.refuse({ where, field: "timeoutSeconds", value: timeoutSeconds, expected: "seconds above 0" })
  return { concurrency, retries, retryAfter, timeoutSeconds }
}
