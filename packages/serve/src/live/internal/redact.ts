import type { RE2JS } from "re2js"

/** Blackens what patterns match, one after the other. */
export const blacken =
  (patterns: ReadonlyArray<RE2JS>) =>
  (text: string): string =>
    patterns.reduce((left, one) => one.matcher(left).replaceAll("█"), text)
