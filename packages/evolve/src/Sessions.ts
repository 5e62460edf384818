/** Cases that belong together, such as the turns of one conversation: whatever their number, they are one observation. */
import { Array as Arr } from "effect"

/** The session of each case, by its index; null or absent of a case alone. */
export type Sessions = ReadonlyArray<string | null>

/** The session of each case that names one in a field of that name. */
export const of = (cases: ReadonlyArray<unknown>): Sessions =>
  cases.map((one) => (isNamed(one) ? String(one.session) : null))

/** What belongs to the cases of each session, in the order of its first; a case alone is a session. */
export const group = <A>(
  sessions: Sessions,
  all: ReadonlyArray<A>,
  caseOf: (one: A) => number
): ReadonlyArray<Arr.NonEmptyReadonlyArray<A>> => Object.values(Arr.groupBy(all, (one) => keyOf(sessions, caseOf(one))))

/** Equal for the cases of a session alone; never a number, whose order a record would change. */
export const keyOf = (sessions: Sessions, index: number): string => {
  const session = sessions[index] ?? ""
  return `${session} ${session === "" ? index : ""}`
}

/** A case without its session. */
export const without = (one: unknown): unknown => (isNamed(one) ? { ...one, session: undefined } : one)

const isNamed = (one: unknown): one is { readonly session: string | number } =>
  typeof one === "object" &&
  one !== null &&
  "session" in one &&
  ["string", "number"].includes(typeof one.session) &&
  one.session !== ""
