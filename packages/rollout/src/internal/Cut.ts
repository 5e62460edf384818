import type { Grammar } from "../ActionParser.ts"

/**
 * A text up to the end of its turn. A chat model is not stopped at stop texts: some refuse them, and few say at which they
 * stopped. So its turn is cut where an engine would have stopped it.
 */
export const cut = (text: string, { goesOn = () => [], stop }: Pick<Grammar, "stop" | "goesOn">): string => {
  let end = 0
  for (let stops = stop; stops.length > 0; stops = goesOn(text.slice(0, end))) {
    const ends = stops.flatMap((one) => {
      // A stop text may begin before the last end, but must reach beyond it.
      const at = text.indexOf(one, Math.max(0, end - one.length + 1))
      return at < 0 ? [] : [at + one.length]
    })
    if (ends.length === 0) return text
    end = Math.min(...ends)
  }
  return end === 0 ? text : text.slice(0, end)
}
