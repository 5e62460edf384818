/** Rewards that compare the final answer alone with the golden answers. */
import { exactMatch, f1 as wordF1, substringExactMatch } from "../ExactMatch.ts"
import { make, type RewardFunction } from "../RewardFunction.ts"
import type { Measure, RewardKind } from "../RewardKind.ts"
import { extract, type Scope } from "../Scope.ts"
import { verlFactor } from "../SearchR1.ts"

/** Scores the final answer by a measure; an attempt without an answer earns 0. */
export const fromMeasure = (name: string, measure: Measure, scope: Scope): RewardFunction =>
  make(name, (attempt) => {
    const answer = extract(attempt, scope)
    const factor = scope === "verl" ? verlFactor(attempt.response) : 1
    return { answer, reward: answer === null ? 0 : factor * measure(answer, attempt.question.goldenAnswers) }
  })

const measured = <const Name extends string>(name: Name, label: string, description: string, measure: Measure) =>
  ({
    name,
    label,
    description,
    needs: "attempt",
    defaults: {},
    measure,
    make: ({ scope }) => fromMeasure(name, measure, scope)
  }) satisfies RewardKind<Name>

export const em = measured("em", "EM", "exact match", exactMatch)
export const subem = measured("subem", "sub-EM", "golden answer within the answer", substringExactMatch)
export const f1 = measured("f1", "F1", "word F1", wordF1)
