import { Effect } from "effect"
import { each, type Judge, type Judged, numbers, promptOf, turnsOf, written } from "../Judge.ts"

/** RubricEM's judge of reflections: 0, 1 or 2 for the turn that reflects, scaled to [0, 1]; nothing for one that it cannot read. */
export const reflections: Judge<"reflections"> = {
  name: "reflections",
  source: "RubricEM, arXiv 2605.10899",
  criteria: "A good reflection names what the attempt before it did wrong or missed, and what to do otherwise.",
  of: (group, { criteria }, ask) =>
    each(
      group,
      Effect.fnUntraced(function* (rollout, index) {
        const at = rollout.turns.findIndex(({ action }) => action?.kind === "reflect")
        if (at === -1) return {}
        const score = yield* ask({
          key: `${index}`,
          prompt: prompt(rollout, at, criteria),
          read: (reply) => {
            const [score = -1, ...others] = numbers(written(reply, "score")) ?? []
            return others.length === 0 && score >= 0 && score <= best ? score / best : null
          }
        })
        return { turns: rollout.turns.map((_, turn) => (turn === at && score !== null ? { reflection: score } : {})) }
      })
    )
}

/** The score of a reflection that could not be better. */
const best = 2

/** What followed the reflection is not shown, so that luck counts for nothing. */
const prompt = (rollout: Judged, at: number, criteria: string): string =>
  promptOf(rollout, {
    task: `You score a reflection, which is turn ${at + 1} of an attempt at a question. ${criteria}`,
    shown: [turnsOf({ ...rollout, turns: rollout.turns.slice(0, at + 1) })],
    verdict:
      "Say in a sentence what it brings. Then write 0 for bad, 1 for middling or 2 for good, as in <score>1</score>."
  })
