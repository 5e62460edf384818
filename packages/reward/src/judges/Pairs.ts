import { Effect } from "effect"
import { type Judge, type Judged, promptOf, turnsOf, written } from "../Judge.ts"

/**
 * SPO's judge of pairs. It is asked in both orders, and the mean of both is how probably the one beats the other: so those of a
 * pair sum to 1, whatever place the judge prefers. Rollouts of the same text tie unasked.
 */
export const pairs: Judge<"pairs"> = {
  name: "pairs",
  source: "SPO, arXiv 2401.04056",
  criteria: "The better attempt has the better final answer; of equally good answers, that with the sounder way to it.",
  of: Effect.fnUntraced(function* (group, { criteria }, ask) {
    const texts = group.map(turnsOf)
    const ordered = group.flatMap((first, i) =>
      group.flatMap((second, j) => (texts[i] === texts[j] ? [] : [{ first, second, key: `${i}-${j}` }]))
    )
    const won = yield* Effect.forEach(
      ordered,
      ({ first, key, second }) =>
        Effect.map(
          ask({ key, prompt: prompt(first, second, criteria), read: chanceOfFirst }),
          (chance) => [key, chance ?? 0.5] as const
        ),
      { concurrency: "unbounded" }
    )
    const chances = new Map(won)
    const chance = (i: number, j: number) => chances.get(`${i}-${j}`) ?? 0.5
    return { findings: group.map((_, i) => ({ beats: group.map((_, j) => (chance(i, j) + 1 - chance(j, i)) / 2) })) }
  })
}

const prompt = (first: Judged, second: Judged, criteria: string): string =>
  promptOf(first, {
    task: `You compare two attempts at a question. ${criteria}`,
    shown: [`<first>\n${turnsOf(first)}\n</first>`, `<second>\n${turnsOf(second)}\n</second>`],
    verdict:
      "Say in one sentence how they differ. Then write <better>first</better>, <better>second</better>, or " +
      "<better>equal</better>."
  })

const chanceOfFirst = (reply: string): number | null => {
  switch (written(reply, "better")?.toLowerCase()) {
    case "first":
      return 1
    case "second":
      return 0
    case "equal":
      return 0.5
    default:
      return null
  }
}
