import { Schema } from "effect"

/** The state of one part: `ready`; `failed`, which prevents a start; or `unsure`, such as a server that is busy at the moment. */
export const Check = Schema.Struct({
  part: Schema.Literals(["policy", "proposer", "judge", "retriever", "engine", "tools"]),
  status: Schema.Literals(["ready", "unsure", "failed"]),
  detail: Schema.String
})
export interface Check extends Schema.Schema.Type<typeof Check> {}

/** How many seconds a server is waited for at most before a run begins. */
export const longest = 30

/** The time that a setting gives to a request, within what a start may take. */
export const atMost = (seconds: number) => `${Math.min(longest, seconds)} seconds` as const
