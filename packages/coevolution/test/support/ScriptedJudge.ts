/** A judge that follows a script. */
import type { JudgeModel } from "@inspo/reward"
import { Effect, Hash } from "effect"

/** The settings of a method with this judge. */
export const judged = { model: "openai:judge", criteria: "", again: 0.5 }

/** As many scores as the prompt shows in its last line. */
const scoresOf = (prompt: string, draw: number) =>
  (prompt.split("<scores>").at(-1)?.split("</scores>")[0] ?? "").split(", ").map((_, index) => (index + draw) % 3)

/** Verdicts of every kind in one reply, which depend on the prompt alone, or on how often it was asked. */
const verdicts = (prompt: string, times = 0): string => {
  const draw = (Hash.string(`${prompt}${times}`) >>> 0) % 2
  return (
    `<better>${draw === 0 ? "first" : "second"}</better> <earliest>${draw === 0 ? -1 : 1}</earliest> ` +
    `<score>${draw}</score> <critical>${draw + 1}</critical> <merit weight="2">short ${draw}</merit> ` +
    `<scores>${scoresOf(prompt, draw).join(", ")}</scores>`
  )
}

/** A judge whose replies cost 10 tokens; a `moody` one changes its mind. */
export const judge = (asked: Map<string, number>, isMoody = false): JudgeModel => ({
  atMost: () => ({ calls: 3, tokens: 30, usd: 0.03 }),
  ask: (prompt, isReadable) =>
    Effect.sync(() => {
      const times = asked.get(prompt) ?? 0
      asked.set(prompt, times + 1)
      const text = verdicts(prompt, isMoody ? times : 0)
      return { text: isReadable(text) ? text : null, spent: { calls: 1, tokens: 10, usd: 0.01 } }
    })
})
