import { Effect } from "effect"
import { each, type Judge, type Judged, numbers, promptOf, turnsOf, written } from "../Judge.ts"

/** FAPO's judge of steps: the earliest wrong turn of a success, or −1. A judge that always says −1 changes nothing. */
export const steps: Judge<"steps"> = {
  name: "steps",
  source: "FAPO, arXiv 2510.22543",
  criteria: "A turn is wrong if it claims what neither an observation nor sound reasoning supports.",
  of: (group, { criteria }, ask) =>
    each(
      group,
      Effect.fnUntraced(function* (rollout, index) {
        if (rollout.reward <= 0) return { flawed: false }
        const last = rollout.turns.length
        const first = yield* ask({
          key: `${index}`,
          prompt: prompt(rollout, criteria),
          read: (reply) => {
            const [turn = 0, ...others] = numbers(written(reply, "earliest")) ?? []
            return others.length === 0 && (turn === -1 || (turn > 0 && turn <= last)) ? turn : null
          }
        })
        return { flawed: first !== null && first !== -1 }
      })
    )
}

const prompt = (rollout: Judged, criteria: string): string =>
  promptOf(rollout, {
    task: `You check an attempt at a question whose final answer is right, turn by turn. ${criteria}`,
    shown: [turnsOf(rollout)],
    verdict:
      "Say in a sentence for each turn whether it is sound. Then write the number of the earliest wrong turn, as in " +
      "<earliest>2</earliest>, or <earliest>-1</earliest> if all are sound."
  })
