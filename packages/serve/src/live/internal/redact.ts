import { RE2JS } from "re2js"

/** Replaces what patterns match by `█`, one pattern after the other. */
export const redact =
  (patterns: ReadonlyArray<RE2JS>) =>
  (text: string): string =>
    patterns.reduce((left, one) => one.matcher(left).replaceAll("█"), text)

/** The same for patterns as text, of which the most recently used ones stay compiled. */
export const redaction = (patterns: ReadonlyArray<string>): ((text: string) => string) => {
  const name = JSON.stringify(patterns)
  const redaction = compiled.get(name) ?? redact(patterns.map((one) => RE2JS.compile(one)))
  compiled.delete(name)
  compiled.set(name, redaction)
  for (const oldest of compiled.keys()) if (compiled.size > most) compiled.delete(oldest)
  return redaction
}

const compiled = new Map<string, (text: string) => string>()

/** A compiled pattern that has seen many texts holds some megabytes. */
const most = 16
