import { Effect } from "effect"
import { each, type Judge, type Judged, promptOf, turnsOf, written } from "../Judge.ts"

/**
 * EPO's judge of key turns: it reads a whole episode with its score and names the turns that decided it. Numbers of no turn are
 * ignored; without a critical turn the outcome alone counts.
 */
export const keyTurns: Judge<"key-turns"> = {
  name: "key-turns",
  source: "EPO, arXiv 2502.12486",
  criteria: "A turn is critical if the outcome would probably have been worse without it.",
  of: (group, { criteria }, ask) =>
    each(
      group,
      Effect.fnUntraced(function* (rollout, index) {
        const named = yield* ask({
          key: `${index}`,
          prompt: prompt(rollout, criteria),
          read: (reply) => {
            const list = written(reply, "critical")
            return list === "" || /^none\b/iu.test(list ?? "") ? [] : (list?.match(/-?\d+/gu)?.map(Number) ?? null)
          }
        })
        return { turns: rollout.turns.map((_, turn) => ({ critical: named?.includes(turn + 1) === true })) }
      })
    )
}

const prompt = (rollout: Judged, criteria: string): string =>
  promptOf(rollout, {
    task: `You name the turns of an attempt at a question that were critical for its score. ${criteria}`,
    shown: [turnsOf(rollout), `<score>${rollout.reward}</score>`],
    verdict:
      "Say in a sentence for each critical turn why it is. Then write their numbers, as in <critical>1, 3</critical>, or " +
      "<critical>none</critical>."
  })
