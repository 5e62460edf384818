/** The methods of an algorithm that ask a judge. */
import { Credits } from "@inspo/policy-gradient"
import { GroupRewards, type Judge, Judges } from "@inspo/reward"
import type { Algorithm } from "./Algorithm.ts"

/** The settings whose methods can ask a judge. */
export type JudgedSetting = "reward.shaping" | "train.credit"

/** A method with its judge, the name of the judge's language model, and how it is asked. */
export interface JudgedMethod {
  readonly setting: JudgedSetting
  readonly judge: Judge
  readonly model: string
  readonly criteria: string
  /** The most criteria of a question. */
  readonly cap: number
  /** The share of questions that are asked twice. */
  readonly again: number
}

/** The methods of an algorithm that ask a judge, at most one for each setting. */
export const judgedMethods = ({ reward, train }: Pick<Algorithm, "reward" | "train">): ReadonlyArray<JudgedMethod> => {
  if (train.fromStep === null) return []
  const chosen = [
    { setting: "reward.shaping", method: GroupRewards.named(reward.shaping), choice: reward.shaping },
    { setting: "train.credit", method: Credits.named(train.credit), choice: train.credit }
  ] as const
  return chosen.flatMap(({ choice, method, setting }) => {
    const judge = Judges.named(method?.judge)
    if (judge === null || !("model" in choice) || choice.model === "") return []
    const { again, criteria, model } = choice
    return [
      {
        setting,
        judge,
        model,
        criteria: criteria === "" ? judge.criteria : criteria,
        cap: "cap" in choice ? choice.cap : 0,
        again
      }
    ]
  })
}
