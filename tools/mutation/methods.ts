/** A planted bug in each method of policy optimization. */
import { inFile, type Mutation } from "./planted.ts"

const inMethod = (path: string) => inFile(`packages/policy-gradient/src/${path}.ts`)

const advantage = (name: string) => inMethod(`advantages/${name}`)

export const ofMethods: ReadonlyArray<Mutation> = [
  inMethod("Moments")(
    "(weightedMean(squares, weights) * count) / (count - 1)",
    "weightedMean(squares, values)",
    "the variance is weighted by values"
  ),
  inMethod("Shaping")(
    "clamp(changes[index] ?? 0, -most, most)",
    "(changes[index] ?? 0)",
    "a shaped advantage changes its sign"
  ),
  inMethod("GrpoBatch")("end === -1 ? null", "end === -1 ? 0", "a rollout without a call of a tool has one"),
  advantage("LeaveOneOut")("Math.max(1, group.length - 1)", "group.length", "leave-one-out counts itself"),
  advantage("BatchScaled")("deviation(groups.flatMap(rewardsOf))", "1", "batch-scaled does not scale"),
  advantage("ReinforcePlusPlus")(
    "groups.flatMap(lengthsOf)",
    "groups.flatMap(() => [1])",
    "REINFORCE++ whitens over rollouts"
  ),
  advantage("ReinforcePlusPlusBaseline")(
    "groups.flatMap((group) => centre(rewardsOf(group)))",
    "groups.flatMap(rewardsOf).map((value) => value * value)",
    "REINFORCE++ has no baseline"
  ),
  advantage("Opo")(
    "weightedMean(rewards, lengthsOf(group))",
    "weightedMean(rewards, rewards.map(() => 1))",
    "the baseline ignores lengths"
  ),
  advantage("Gpg")("centred.length / acting / norm", "1 / norm", "GPG does not make up for equal groups"),
  advantage("PassAtK")("choose(failures - 1, k - 1)", "choose(failures, k - 1)", "pass@k counts the failure itself"),
  advantage("BestOfGroup")("first === second ? 0 : ", "", "best-of-group divides by a deviation of 0"),
  advantage("MaxLikelihood")("level === 0 ? 0 : value / level", "value", "MaxRL does not weigh hard questions up"),
  advantage("TokenAverage")("Math.abs(value) >= limit", "false", "token-average has no limit"),
  advantage("Consistency")("(1 - w) *", "w *", "consistency weighs both parts alike"),
  advantage("EarlyTool")("reward > 0 && ", "", "early-tool changes failures"),
  advantage("Adora")("longest > mean(failed)", "longest < mean(failed)", "ADORA prefers short successes"),
  advantage("Gfpo")(
    "efficient ? -reward / length : length",
    "efficient ? -reward / length : -length",
    "GFPO keeps the longest"
  ),
  advantage("Remax")("reward - required", "reward + required", "the greedy reward is added"),
  advantage("Gdpo")("(weights[kind] ?? 1) *", "1 *", "kinds have no weights"),
  advantage("Confidence")("prompt - answer", "answer - prompt", "certain answers gain"),
  advantage("Budgeted")("mean(rewardsOf(subgroup))", "0", "the subgroup of a budget does not count")
]
