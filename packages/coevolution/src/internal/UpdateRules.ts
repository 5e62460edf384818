/** What the settings of the policy update cannot be combined with. */
import type { Method } from "@inspo/domain"
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

const refused = (field: string, { name }: { readonly name: string }, expected: string, remedy: string): ConfigError =>
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
        `another method, because it needs ${of.needs}`,
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

/** Methods that are sound by themselves, of which one undoes or misreads the other. */
const methodsSuit: Rule = ({ reward: { shaping }, rollout, train: { advantage, keep, kl, loss } }) => {
  const agent = Agents.fromConfig(rollout)
  const reward = GroupRewards.named(shaping)
  const callsNoTool = agent.outside === undefined && (agent.policyTools ?? agent.tools(rollout)).length === 0
  const chosen = {
    "reward.shaping": shaping,
    "train.advantage": advantage,
    "train.keep": keep,
    "train.kl": kl,
    "train.loss": loss
  }
  type Pair = readonly [isBroken: boolean, field: keyof typeof chosen, expected: string, remedy: string]
  const pairs: ReadonlyArray<Pair> = [
    [
      advantage.name === "max-likelihood" && reward !== null && reward.isNeverNegative !== true,
      "reward.shaping",
      "a reward of at least 0, because train.advantage: max-likelihood divides by the mean of a group",
      "Set reward.shaping to none, or train.advantage to standardised."
    ],
    [
      advantage.name === "budgeted" && !(shaping.name === "budget" && shaping.limit === advantage.limit),
      "reward.shaping",
      "budget of the same limit, because train.advantage is budgeted",
      "Set reward.shaping to budget and both limits alike, or train.advantage to standardised."
    ],
    [
      advantage.name === "gpg" && keep.name === "differing",
      "train.keep",
      "all, because train.advantage: gpg makes up for groups of equal rewards already",
      "Set train.keep to all, or train.advantage to centred."
    ],
    [
      advantage.name === "early-tool" && callsNoTool,
      "train.advantage",
      `another method, because the policy of the agent ${rollout.agent.name} calls no tool`,
      "Set train.advantage to standardised, or choose an agent that searches."
    ],
    [
      (loss.name === "clip-trajectory" || loss.name === "luspo") && agent.restarts === true,
      "train.loss",
      `another loss, because the agent ${rollout.agent.name} rewrites its context, so a trajectory is several sequences`,
      "Set train.loss to clip, or choose an agent that keeps its context."
    ],
    [
      kl.name === "advantages" && kl.coefficient > 0 && rollout.rescue !== null,
      "train.kl",
      "loss or none, because rollout.rescue trains what was sampled under another prompt",
      "Set train.kl to loss or none, or rollout.rescue to null."
    ],
    [
      keep.name === "differing" && keep.draws > 0 && reward?.replacesRewards === true,
      "reward.shaping",
      "none, or a change of the rewards of rollouts, because train.keep.draws asks until those differ",
      "Set reward.shaping to none, or train.keep.draws to 0."
    ]
  ]
  const broken = pairs.find(([isBroken]) => isBroken)
  if (broken === undefined) return null
  const [, field, expected, remedy] = broken
  return refused(field, chosen[field], expected, remedy)
}

/** What a constant must be. */
interface Limit {
  readonly fits: (value: number) => boolean
  readonly expected: string
}

const fromZero: Limit = { fits: (value) => value >= 0, expected: "0 or more" }
const positive: Limit = { fits: (value) => value > 0, expected: "above 0" }
const share: Limit = { fits: (value) => value > 0 && value <= 1, expected: "a share above 0, at most 1" }
const count: Limit = { fits: (value) => Number.isInteger(value) && value > 0, expected: "a whole number, at least 1" }
const dual: Limit = { fits: (value) => value === 0 || value >= 1, expected: "at least 1, or 0 for no dual clip" }
const penalty: Limit = {
  fits: (value) => value >= 0 && value < 2,
  expected: "0 or more and less than 2, so that a flawed success earns more than a failure"
}
const factor: Limit = { fits: (value) => value >= 0 && value <= 1, expected: "from 0 to 1" }
const bounds = { low: fromZero, high: fromZero, bound: positive, delta: fromZero }
const rates = { positiveK: positive, positiveLambda: positive, negativeK: positive, negativeLambda: positive, positive }
const ratios = { ...bounds, ...rates, negative: positive, cap: positive, safe: positive, clip: fromZero, gamma: factor }
const lengths = { limit: positive, buffer: positive, size: count }
const returns = { gamma: factor, base: positive }

const constantsFit: Rule = ({ reward: { shaping }, train: { advantage, correction, credit, keep, loss } }) => {
  const shaped = shaping.name === "costs" ? { prices: Math.min(0, ...Object.values(shaping.prices)) } : shaping
  const all: ReadonlyArray<readonly [setting: string, method: object, limits: Readonly<Record<string, Limit>>]> = [
    ["reward.shaping", shaped, { alpha: fromZero, weight: fromZero, prices: fromZero, ...lengths }],
    ["reward.shaping", shaping.name === "flawed" ? shaping : {}, { penalty }],
    ["train.advantage", advantage, { k: count, norm: positive, epsilon: fromZero, limit: positive, bound: factor }],
    ["train.keep", keep, { members: count, share }],
    ["train.credit", credit, { temperature: positive, epsilon: fromZero, share, floor: share, ...returns }],
    ["train.loss", loss, { ...ratios, dual, epsilon: fromZero, tau: fromZero, lambda: fromZero }],
    ["train.correction", correction, bounds]
  ]
  for (const [setting, method, limits] of all)
    for (const [constant, { expected, fits }] of Object.entries(limits)) {
      const value = Number(Reflect.get(method, constant))
      if (constant in method && !fits(value))
        return new ConfigError({
          field: `${setting}.${constant}`,
          value: String(value),
          expected,
          remedy: "Set it so, or choose another method."
        })
    }
  for (const [setting, method] of Object.entries({ correction, keep }))
    if ("low" in method && method.low > method.high)
      return new ConfigError({
        field: `train.${setting}.low`,
        value: String(method.low),
        expected: `at most train.${setting}.high (${method.high}), else nothing is trained`,
        remedy: `Lower it, or raise train.${setting}.high.`
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
  methodsSuit,
  constantsFit
]
