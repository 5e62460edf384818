/** What `evolve()` and `compare()` do around their state machines: they read cases, check options and keep promises. */
import { readFile } from "node:fs/promises"
import { type Instruction, InvalidInput } from "@inspo/domain"
import { Cause, Effect, Exit } from "effect"
import * as Calls from "./Calls.ts"
import * as Cases from "./Cases.ts"
import * as Protected from "./Protected.ts"
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
  Effect.promise(async () => {
    const isList = typeof cases === "string" || (isObject(cases) && Symbol.iterator in cases)
    checking("cases")(isList, "cases", cases, "a list, or the path of a file")
    const found = Setup.distinct(
      typeof cases === "string" ? Cases.parseFile(cases, Cases.decode(cases, await readFile(cases))) : cases
    )
    Protected.assertMarks(found.distinct)
    return found
  })

/** Refuses what programs without types can give, before anything is paid for. */
export const assertOptions = (
  where: string,
  options: Pick<AnyOptions, "agent" | "identity" | "randomSeed" | "score"> & { readonly candidates?: unknown }
): void => {
  const { agent, candidates, identity = {}, randomSeed = 1, score } = options
  const check = checking(where)
  check(where !== "compare" || Array.isArray(candidates), "candidates", candidates, "a list of prompts")
  for (const [field, value] of Object.entries({ agent, score }))
    check(typeof value === "function", field, value, "a function")
  check(Number.isFinite(randomSeed), "randomSeed", randomSeed, "a number")
  for (const [name, value] of Object.entries(identity))
    check(typeof value === "string", `identity.${name}`, value, "a text, such as String(value)")
}

/** The same of what a search alone is given. */
export const assertSearch = ({ aim, budget, control, margin, proposer, saving }: AnyOptions): void => {
  const check = checking("evolve")
  check(isObject(budget), "budget", budget, "{ calls }, such as { calls: 300 }")
  const isSource = Array.isArray(proposer)
    ? proposer.length > 0 && proposer.every((one) => typeof one === "string" && one.trim() !== "")
    : typeof proposer === "function" || (isObject(proposer) && "doGenerate" in proposer)
  check(isSource, "proposer", proposer, "a function from text to text, a model of the AI SDK, or a list of sentences")
  check([undefined, "better", "shorter", "cheaper"].includes(aim), "aim", aim, "better, shorter or cheaper")
  check(aim === undefined || control === undefined, "aim", aim, "none beside a control")
  check(control === undefined || "agent" in control, "control", control, "{ agent }")
  for (const [field, value] of Object.entries({ margin, saving }))
    check(value === undefined || (aim ?? control) !== undefined, field, value, "none without an aim or a control")
}

/** Refuses a value that is not right. */
export const checking =
  (where: string) =>
  (isRight: boolean, field: string, value: unknown, expected: string): void => {
    if (!isRight) InvalidInput.refuse({ where, field, value, expected })
  }

interface AnyOptions extends Omit<Setup.EvolveOptions<Setup.Prompt, unknown, unknown>, "cases"> {}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** The texts of a prompt; refuses those that no agent can use. */
export const contentOf = (where: string, field: string, prompt: Setup.Prompt): Instruction.Content => {
  const isPrompt = typeof prompt === "string" || (isObject(prompt) && !Array.isArray(prompt))
  checking(where)(isPrompt, field, prompt, "a text, or texts by their names")
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
