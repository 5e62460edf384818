import { Effect } from "effect"
import { each, type Judge, type Judged, numbers, promptOf, turnsOf, written } from "../Judge.ts"

/** RubricEM's judge of stages: 0, 1 or 2 for each turn, scaled to [0, 1]. Without scores each turn has the rollout's reward. */
export const turns: Judge<"turns"> = {
  name: "turns",
  source: "RubricEM, arXiv 2605.10899",
  criteria: "A good turn brings the attempt closer to a right answer; ignore length, tags and tone.",
  of: (group, { criteria }, ask) =>
    each(
      group,
      Effect.fnUntraced(function* (rollout, index) {
        const scores = yield* ask({
          key: `${index}`,
          prompt: prompt(rollout, criteria),
          read: (reply) => {
            const all = numbers(written(reply, "scores"))
            return all?.length === rollout.turns.length && all.every((score) => score >= 0 && score <= best)
              ? all.map((score) => score / best)
              : null
          }
        })
        return { turns: rollout.turns.map((_, turn) => ({ score: scores?.[turn] ?? rollout.reward })) }
      })
    )
}

/** The score of a turn that could not be better. */
const best = 2

const prompt = (rollout: Judged, criteria: string): string =>
  promptOf(rollout, {
    task: `You score each turn of an attempt at a question. ${criteria}`,
    shown: [turnsOf(rollout)],
    verdict:
      "Say in a sentence for each turn what it brought. Then write a score for each of the " +
      `${rollout.turns.length} turns, 0 for bad, 1 for middling, 2 for good, as in <scores>${rollout.turns.map(() => 1).join(", ")}</scores>.`
  })
