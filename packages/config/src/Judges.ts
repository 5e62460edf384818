/** The language models that judge, by the settings that name them. */
import type { Algorithm } from "@inspo/coevolution"
import { judgeOf } from "@inspo/reward"

type Judging = Pick<Algorithm, "reward" | "train">

/** Who has a judge: the reward, its shaping, or the credit of turns. */
export type JudgeRole = "judge" | "shaping" | "credit"

/** The settings of the judges' models. */
export const judgeSettings = {
  judge: "reward.kind.model",
  shaping: "reward.shaping.model",
  credit: "train.credit.model"
} as const

/** The judges that a config names. */
export const judgesOf = ({
  reward,
  train: { credit }
}: Judging): ReadonlyArray<{ readonly role: JudgeRole; readonly model: string }> =>
  [
    { role: "judge" as const, model: judgeOf(reward)?.model ?? "" },
    { role: "shaping" as const, model: "model" in reward.shaping ? reward.shaping.model : "" },
    { role: "credit" as const, model: "model" in credit ? credit.model : "" }
  ].filter(({ model }) => model !== "")

/** The same settings with other names of the judges' models. */
export const withJudges = <A extends Judging>(settings: A, change: (model: string, role: JudgeRole) => string): A => {
  const { reward, train } = settings
  const { kind, shaping } = reward
  const { credit } = train
  return {
    ...settings,
    reward: {
      ...reward,
      kind: "model" in kind ? { ...kind, model: change(kind.model, "judge") } : kind,
      shaping: "model" in shaping ? { ...shaping, model: change(shaping.model, "shaping") } : shaping
    },
    train: { ...train, credit: "model" in credit ? { ...credit, model: change(credit.model, "credit") } : credit }
  }
}
