import type { Question } from "@inspo/domain"
import { Context, Effect, Layer } from "effect"
import { extractAnswer } from "./AnswerExtraction.ts"
import { exactMatch } from "./ExactMatch.ts"

/** Judges finished responses. */
export class Reward extends Context.Service<Reward, Reward.Interface>()("@inspo/reward/Reward") {}

export declare namespace Reward {
  export interface Interface {
    /**
     * Scores a response: the turns of the policy in order. Observations may stand between them if tags within them are
     * defused, since the last answer pair counts. A response without an answer earns 0.
     */
    readonly score: (question: Pick<Question.Question, "goldenAnswers">, response: string) => Effect.Effect<Scored>
  }
}

/** The extracted final answer, or null when there is none, and its reward in [0, 1]. */
export interface Scored {
  readonly answer: string | null
  readonly reward: number
}

/** The reward of the paper: 1 when the last answer equals a golden answer after normalisation, else 0. */
export const layerExactMatch: Layer.Layer<Reward> = Layer.succeed(Reward, {
  score: (question, response) => {
    const answer = extractAnswer(response)
    return Effect.succeed({ answer, reward: answer === null ? 0 : exactMatch(answer, question.goldenAnswers) })
  }
})
