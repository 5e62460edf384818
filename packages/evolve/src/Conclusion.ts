/** What a search concludes, in words. Loads nothing else, so that a page can use it. */
import type { Gain, SearchView } from "./SearchView.ts"

export const titles: Readonly<Record<NonNullable<SearchView["verdict"]>, string>> = {
  better: "A better prompt",
  "no-headroom": "No better prompt",
  undecided: "Undecided: the prompt stays as it is"
}

/** What the cases show, where `others` prompts were tried besides the one that was given. */
export const sentence = (
  {
    callsNeeded,
    largestPossibleGain,
    minimalGain,
    test
  }: Pick<SearchView, "callsNeeded" | "largestPossibleGain" | "minimalGain" | "test">,
  others: number
): string => {
  if (test !== null) {
    const { cases, gain, original } = test
    if (cases === 0) return "The budget allowed no call to test the prompt that leads."
    return (
      `On ${cases} held-out cases the original scores ${percent(original)}, and the new prompt ${percent(original + gain.mean)}: ` +
      `${interval(gain)} points at 90 %.` +
      (gain.lower > 0 ? "" : ` ${doubt(gain, cases, minimalGain)}`)
    )
  }
  if (largestPossibleGain === null) return "No other prompt was tried."
  return (
    `Of ${others} other prompts that were tried, none leads. None is better than the original by more than ${points(largestPossibleGain)} points ` +
    `(at a risk of 5 % for all of them together).` +
    (largestPossibleGain < minimalGain
      ? ""
      : ` About ${callsNeeded ?? "more"} calls of these prompts alone, on more cases where they run out, would show or exclude ${points(minimalGain)} points.`)
  )
}

/** What a test that does not show a gain says, and how many cases would show one: the interval shrinks with their root. */
const doubt = ({ lower, mean, upper }: Gain, cases: number, minimalGain: number): string => {
  if (upper < 0) return "Its lead in the search was chance."
  if (upper < minimalGain) return `A gain of ${points(minimalGain)} points is excluded.`
  const width = Math.max(upper - mean, mean - lower)
  const sought = width >= minimalGain ? Math.max(mean, minimalGain) : mean
  const needed = Math.ceil(cases * (width / sought) ** 2)
  return `That can be chance: about ${needed} held-out cases, ${2 * needed} in all, show a gain of ${points(sought)} points.`
}

/** A share in [0, 1] as points: `12.5`. */
export const points = (share: number): string => (100 * share).toFixed(1)
export const percent = (share: number): string => `${points(share)} %`
const signed = (share: number): string => `${share >= 0 ? "+" : "−"}${points(Math.abs(share))}`
/** `+12.5 [+3.0, +22.0]`. */
export const interval = ({ lower, mean, upper }: Gain): string => `${signed(mean)} [${signed(lower)}, ${signed(upper)}]`

/** `$12.34`, `$0.0042`: two digits that count, at least. */
export const dollars = (usd: number): string => `$${(usd >= 1 || usd === 0 ? cents : digits).format(usd)}`

/** Calls that were in flight when a process ended, as a sentence. */
export const lost = ({ calls, usd }: { readonly calls: number; readonly usd: number }): string =>
  `${calls} ${calls === 1 ? "call was" : "calls were"} in flight when a previous process ended; ` +
  `their cost is unknown, counted as ${dollars(usd)}.`

const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const digits = new Intl.NumberFormat("en-US", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })
