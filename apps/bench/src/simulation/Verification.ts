/** Simulates the verification of candidates with known true rewards: its verdicts and rollouts. */
import { Array as Arr } from "effect"
import * as Invariant from "@inspo/domain/Invariant"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Verification } from "@inspo/verification"

/** Arms whose expected rewards, in [0, 1], are known. */
export interface Trial {
  readonly parent: number
  readonly candidates: ReadonlyArray<number>
  /**
   * ρ, in [0, 1]: how much the question decides. With this probability a question is as hard for all trajectories of all
   * arms, and answered by those whose worth reaches its difficulty; else each trajectory is a draw of its own.
   */
  readonly correlation: number
  /** Trajectories of each arm on each question. Their mean is its score. */
  readonly groupSize: number
  /** |D_B|. */
  readonly questions: number
  /** Questions between two interim analyses. */
  readonly interimEvery: number
  /** Places that candidates can take. */
  readonly places: number
}

/** The verdicts, in the order of the candidates, and the trajectories that were rolled out for them. */
export interface Outcome {
  readonly accepted: ReadonlyArray<boolean>
  readonly rollouts: number
}

/** One round of verification. Equal arguments give equal outcomes, and equal seeds the same questions to every rule. */
export const simulate = (trial: Trial, rule: Verification.Strategy, seed: number): Outcome => {
  const [parent, ...candidates] = scores(trial, seed)
  const { parent: isRerun } = rule.plan({ candidates: candidates.length, questions: trial.questions })
  let seen: ReadonlyArray<ReadonlyArray<number>> = candidates.map(() => [])
  let trying: ReadonlyArray<number> = [...candidates.keys()]
  let asked = 0
  let rollouts = 0
  while (trying.length > 0 && asked < trial.questions) {
    const now = Math.min(trial.questions, asked + trial.interimEvery)
    rollouts += (now - asked) * trial.groupSize * (trying.length + (isRerun ? 1 : 0))
    seen = candidates.map((all, place) =>
      trying.includes(place) ? all.slice(0, now) : Invariant.at(seen, place, "scores of candidate")
    )
    asked = now
    trying = rule.remaining({
      candidates: seen,
      parent: isRerun ? parent.slice(0, asked) : null,
      left: trial.questions - asked,
      places: trial.places
    })
  }
  const verdicts = rule.judge({
    candidates: seen,
    parent: isRerun ? parent.slice(0, asked) : null,
    storedParentMean: trial.parent
  })
  return { accepted: verdicts.map(({ accepted }) => accepted), rollouts }
}

/** The scores of the parent, then of each candidate, on all questions. */
const scores = (
  { candidates, correlation, groupSize, parent, questions }: Trial,
  seed: number
): Arr.NonEmptyReadonlyArray<ReadonlyArray<number>> => {
  const worth: Arr.NonEmptyReadonlyArray<number> = [parent, ...candidates]
  const { next } = RandomStream.make(seed, ["verification"])
  const byQuestion = Arr.makeBy(questions, () => {
    const isShared = next() < correlation
    const difficulty = next()
    return worth.map((mean) => {
      let successes = 0
      for (let one = 0; one < groupSize; one++) if ((isShared ? difficulty : next()) < mean) successes++
      return successes / groupSize
    })
  })
  return Arr.map(worth, (_, arm) => byQuestion.map((row) => Invariant.at(row, arm, "score")))
}
