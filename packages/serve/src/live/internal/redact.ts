import type { RE2JS } from "re2js"

/** Replaces what patterns match by `█`, one pattern after the other. */
export const redact =
  (patterns: ReadonlyArray<RE2JS>) =>
  (text: string): string =>
    patterns.reduce((left, one) => one.matcher(left).replaceAll("█"), text)
