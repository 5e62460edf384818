/** What the settings of the policy update cannot be combined with. */
import type { Choice, Method } from "@inspo/domain"
import { Advantage, Credits, Losses } from "@inspo/policy-gradient"
import { GroupRewards } from "@inspo/reward"
import { Agents } from "@inspo/rollout"
import { type Algorithm, sharesGroups } from "../Algorithm.ts"
import { ConfigError } from "../ConfigError.ts"
import { judgedMethods } from "../JudgedMethods.ts"

/** The first of these rules that an algorithm breaks, or null. */
export const broken = (algorithm: Algorithm): ConfigError | null =>
  algorithm.train.fromStep === null
    ? null
    : (rules.map((rule) => rule(algorithm)).find((error) => error !== null) ?? null)

type Rule = (algorithm: Algorithm) => ConfigError | null

const refused = (field: string, { name }: Choice.Named, expected: string, remedy: string): ConfigError =>
  new ConfigError({ field, value: name, expected, remedy })

const inputsExist: Rule = (algorithm) => {
  const { reward, rollout, train } = algorithm
  const { supplies } = Agents.fromConfig(rollout)
  const methods = {
    "train.advantage": { of: Advantage.named(train.advantage), instead: "standardised" },
    "train.loss": { of: Losses.named(train.loss), instead: "clip" },
    "train.credit": { of: Credits.named(train.credit), instead: "outcome" },
    "reward.shaping": { of: GroupRewards.named(reward.shaping), instead: "none" }
  }
  const judged = new Set<string>(judgedMethods(algorithm).map(({ setting }) => setting))
  for (const [setting, { instead, of }] of Object.entries(methods))
    if (of?.needs !== undefined && of.isSupplied !== true && of.needs !== supplies && !judged.has(setting))
      return refused(
        setting,
        of,
        `another method, because a run has no ${of.needs}`,
        of.judge === undefined
          ? `Set ${setting} to ${instead}.`
          : `Name the judge's language model in ${setting}.model.`
      )
  return null
}

const reflectionsAreWritten: Rule = ({ rollout, train: { credit } }) =>
  credit.name !== "reflections" || Agents.fromConfig(rollout).ownActions?.includes("reflect") === true
    ? null
    : refused(
        "train.credit",
        Credits.named(credit),
        `another method, because the agent ${rollout.agent.name} writes no reflections`,
        "Set rollout.agent to reflect, or train.credit to outcome."
      )

const shareable = (methods: ReadonlyArray<Method.Method>): string =>
  methods
    .filter(({ allowsLevels }) => allowsLevels === true)
    .map(({ name }) => name)
    .join(" or ")

const estimators = shareable(Advantage.estimators)
const credits = shareable(Credits.credits)

const sharedGroupsAreCentred: Rule = (algorithm) => {
  const { advantage, credit } = algorithm.train
  const because = "because rollout.instructionsPerQuestion is samples"
  if (!sharesGroups(algorithm)) return null
  if (!Advantage.named(advantage).allowsLevels)
    return refused(
      "train.advantage",
      Advantage.named(advantage),
      `${estimators}, ${because}: Eq. 3 is for groups of one instruction`,
      `Set train.advantage to ${estimators}, or rollout.instructionsPerQuestion to a number.`
    )
  return Credits.named(credit).allowsLevels === true
    ? null
    : refused(
        "train.credit",
        Credits.named(credit),
        `${credits}, ${because}: others compare turns of one instruction`,
        "Set train.credit to outcome, or rollout.instructionsPerQuestion to a number."
      )
}

/** An estimator that gives single rollouts no advantage, whatever their rewards. */
const comparesMembers = (advantage: Algorithm["train"]["advantage"]): boolean => {
  const alone = (reward: number) => [{ reward, length: 1, answer: null, firstCall: null, budget: 1 }]
  return Advantage.ofBatch([alone(1), alone(0), alone(0)], advantage)
    .flat()
    .every((value) => value === 0)
}

const groupsAreLargeEnough: Rule = ({ rollout: { groupSize }, train: { advantage, keep } }) => {
  const asked = {
    "train.advantage.k": "k" in advantage ? advantage.k : 1,
    "train.keep.members": keep.name === "varied-in-group" ? keep.members : 1
  }
  for (const [field, members] of Object.entries(asked))
    if (members > groupSize)
      return new ConfigError({
        field,
        value: String(members),
        expected: `at most rollout.groupSize (${groupSize})`,
        remedy: "Lower it, or raise rollout.groupSize."
      })
  return groupSize > 1 || !comparesMembers(advantage)
    ? null
    : new ConfigError({
        field: "rollout.groupSize",
        value: "1",
        expected: `at least 2, because train.advantage: ${advantage.name} compares the rollouts of a group`,
        remedy: "Raise it, or set train.advantage to reward, or train.fromStep to null."
      })
}

const sequencesCountAlike: Rule = ({ train: { loss, normalization } }) =>
  Losses.named(loss).ofSequences !== true || normalization.name === "sequence-mean"
    ? null
    : new ConfigError({
        field: "train.normalization",
        value: normalization.name,
        expected: `sequence-mean, because train.loss: ${loss.name} is the mean over whole sequences`,
        remedy: "Set it to sequence-mean, or choose a loss of tokens."
      })

const boundsArePositive: Rule = ({ reward: { shaping }, train: { correction, credit, keep, loss } }) => {
  const least = shaping.name === "costs" ? Math.min(0, ...Object.values(shaping.prices)) : 0
  if (least < 0)
    return new ConfigError({
      field: "reward.shaping.prices",
      value: String(least),
      expected: "0 or more for each action",
      remedy: "Set it to what the action costs."
    })
  if (shaping.name === "flawed" && !(shaping.penalty >= 0 && shaping.penalty < 2))
    return new ConfigError({
      field: "reward.shaping.penalty",
      value: String(shaping.penalty),
      expected: "0 or more and less than 2, so that a flawed success earns more than a failure",
      remedy: "Set it to 1, as published."
    })
  for (const [field, constants] of Object.entries({ loss, correction }))
    for (const bound of ["low", "high", "dual", "bound", "delta"] as const) {
      const value: number = bound in constants ? Number(Reflect.get(constants, bound)) : 0
      if (value < 0)
        return new ConfigError({
          field: `train.${field}.${bound}`,
          value: String(value),
          expected: "0 or more",
          remedy: "Set it to a bound of a ratio, or to a distance."
        })
    }
  if ("low" in correction && correction.low > correction.high)
    return new ConfigError({
      field: "train.correction.low",
      value: String(correction.low),
      expected: `at most train.correction.high (${correction.high}), else no token is trained`,
      remedy: "Lower it, or raise train.correction.high."
    })
  const shares = {
    "train.keep.share": keep.name === "varied" ? keep.share : 1,
    "train.credit.share": credit.name === "evidence" ? credit.share : 1,
    "train.credit.floor": credit.name === "evidence" ? credit.floor : 1
  }
  for (const [field, value] of Object.entries(shares))
    if (value === null || !(value > 0 && value <= 1))
      return new ConfigError({
        field,
        value: String(value),
        expected: "a share above 0, at most 1",
        remedy: "Set it to the share to train, or that of the least weight."
      })
  return null
}

/** In the order in which they are checked. */
const rules: ReadonlyArray<Rule> = [
  inputsExist,
  reflectionsAreWritten,
  sharedGroupsAreCentred,
  groupsAreLargeEnough,
  sequencesCountAlike,
  boundsArePositive
]
