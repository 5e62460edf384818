/** A planted bug in each method of policy optimization. */
import { inFile, type Mutation } from "./planted.ts"

const inMethod = (path: string) => inFile(`packages/policy-gradient/src/${path}.ts`)

const ofGroup = (name: string) => inFile(`packages/reward/src/group/${name}.ts`)

const inShaping = inFile("packages/coevolution/src/internal/perform/Shaping.ts")

const inJudge = (name: string) => inFile(`packages/reward/src/judges/${name}.ts`)

const agent = (name: string) => inFile(`packages/rollout/src/agents/${name}.ts`)

const inRules = inFile("packages/coevolution/src/internal/UpdateRules.ts")

const inMemory = inFile("packages/replay-buffer/src/Memory.ts")

const loss = (name: string) => inMethod(`losses/${name}`)

const advantage = (name: string) => inMethod(`advantages/${name}`)

export const ofMethods: ReadonlyArray<Mutation> = [
  inFile("packages/statistics/src/Moments.ts")(
    "(weightedMean(squares, weights) * count) / (count - 1)",
    "weightedMean(squares, values)",
    "the variance is weighted by values"
  ),
  inMethod("Shaping")(
    "Moments.clamp(changes[index] ?? 0, -most, most)",
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
    "groups.flatMap((group) => Moments.centre(rewardsOf(group)))",
    "groups.flatMap(rewardsOf)",
    "REINFORCE++ has no baseline"
  ),
  advantage("Risk")("Math.max(score - upper, 0)", "0", "papers above the upper quantile are praised"),
  advantage("Risk")("share - Moments.mean", "Moments.mean", "a quantile flees its share"),
  advantage("Opo")(
    "weightedMean(rewards, lengthsOf(group))",
    "weightedMean(rewards, rewards.map(() => 1))",
    "the baseline ignores lengths"
  ),
  advantage("Gpg")("centred.length / acting / norm", "1 / norm", "GPG does not make up for equal groups"),
  advantage("PassAtK")("choose(failures - 1, k - 1)", "choose(failures, k - 1)", "pass@k counts the failure itself"),
  advantage("BestOfGroup")("first === second ? 0 : ", "", "best-of-group divides by a deviation of 0"),
  advantage("MaxLikelihood")("value / level", "value", "MaxRL does not weigh hard questions up"),
  advantage("MaxLikelihood")("level > Number.EPSILON", "level !== 0", "a mean below 0 turns advantages over"),
  advantage("TokenAverage")("Math.abs(value) >= limit", "false", "token-average has no limit"),
  advantage("Consistency")("(1 - w) *", "w *", "consistency weighs both parts alike"),
  advantage("EarlyTool")("firstCall - middle", "middle - firstCall", "late calls gain"),
  advantage("Adora")(
    "longest > Moments.mean(failed)",
    "longest < Moments.mean(failed)",
    "ADORA prefers short successes"
  ),
  advantage("Gfpo")(
    "efficient ? -reward / length : length",
    "efficient ? -reward / length : -length",
    "GFPO keeps the longest"
  ),
  advantage("Remax")("reward - Method.required", "reward + Method.required", "the greedy reward is added"),
  advantage("Gdpo")("(weights[kind] ?? 1) *", "1 *", "kinds have no weights"),
  advantage("Confidence")("prompt - answer", "answer - prompt", "certain answers gain"),
  advantage("Budgeted")("mean(rewardsOf(subgroup))", "0", "the subgroup of a budget does not count"),

  loss("Clip")("clippedWeight(ratio, advantage, bounded(bounds))", "ratio * advantage", "nothing is clipped"),
  inMethod("Surrogate")("ratio < 1 - low || ratio > dual", "ratio < 1 - low", "the dual clip does not act"),
  loss("ImportanceSampling")(
    "perToken(({ advantage, ratio }) => ratio * advantage)",
    "perToken(({ advantage }) => advantage)",
    "the ratio does not count"
  ),
  loss("Reinforce")("factor: () => 1", "factor: ({ ratio }) => ratio", "REINFORCE has a ratio"),
  loss("Cispo")("clamp(ratio, 1 - low, 1 + high)", "(ratio > 1 + high ? 0 : ratio)", "CISPO loses tokens"),
  loss("Dro")("advantage - tau *", "advantage + tau *", "the penalty of DRO pushes away"),
  loss("Sapo")("4 * gate * (1 - gate)", "4 * gate", "the gate of SAPO does not fall"),
  loss("RatioVariance")("advantage - 2 *", "advantage - ", "the variance counts half"),
  loss("DppoTv")("moved > delta : moved < -delta", "moved < -delta : moved > delta", "DPPO masks the wrong side"),
  loss("Topr")("advantage > 0 ? 1 :", "", "TOPR truncates successes"),
  loss("Truncated")("Moments.clamp(ratio, 0, bound)", "ratio", "nothing is truncated"),
  loss("Icpo")("gamma * probability) / (probability", "probability) / (probability", "ICPO has no γ"),
  loss("Gspo")("Math.exp(Moments.mean(", "Math.exp(2 * Moments.mean(", "the ratio of GSPO is squared"),
  loss("Luspo")("sequence.logprobs.length * clippedWeight", "clippedWeight", "LUSPO is GSPO"),
  loss("Gmpo")("Math.min(log, epsilon)", "Math.max(log, -epsilon)", "GMPO clips successes from below"),
  loss("Vespo")("advantage >= 0", "advantage < 0", "VESPO swaps its constants"),
  loss("Fipo")("advantage < 0 && Math.exp(log) > safe", "false", "FIPO weighs far failures up"),
  loss("ClipRun")("(logs.get(run) ?? 0) + log", "log", "the ratio of a turn is that of its last token"),

  inMethod("Credits")("mask[index - 1] !== 1) turn++", "true) turn++", "each token is a turn"),
  inMethod("Credit")("value + gamma * sum", "gamma * value + sum", "returns discount themselves"),
  inMethod("credits/Outcome")("turns.map(() => advantage)", "turns.map(() => 1)", "the outcome is lost"),
  inMethod("credits/Discount")("turns - 1 - index", "index", "early turns earn most"),
  inMethod("credits/KeyTurns")("value / largest", "value", "key turns are not scaled"),
  inMethod("credits/Stages")("length > k", "length >= k", "a stage is compared with missing ones"),
  inMethod("credits/Evidence")("value === least && ties-- > 0", "value === least", "more tokens train than the share"),
  inMethod("credits/Evidence")("floor + (scaled", "1 + (scaled", "evidence scales a step up"),
  inMethod("credits/Evidence")("exp(d) - d - 1", "exp(d) - 1", "a token that depends on nothing is below 0"),
  inMethod("GrpoBatch")(
    "tokens?.slice(Trajectory.actionTokens(earlier))",
    "tokens?.slice(0)",
    "segments train by the first tokens"
  ),
  inMethod("GrpoBatch")(
    'kind.name === "differing" ? aboveLevel(trajectory, levels)',
    'kind.name === "all" ? aboveLevel(trajectory, levels)',
    "groups of several instructions differ by rewards alone"
  ),
  inMethod("GrpoBatch")("Credits.named(kind).isOfTokens !== true", "true", "the credit of tokens is by groups"),
  inFile("packages/coevolution/src/internal/perform/Counterfactual.ts")(
    "blind: blind.push(token) - 1",
    "blind: blind.push(token)",
    "tokens are compared with those after them"
  ),
  inFile("packages/coevolution/src/internal/perform/Counterfactual.ts")(
    "places.map(() => 0)",
    "places.map(() => 1)",
    "a call depends on what it has not seen"
  ),
  inMethod("credits/Reflections")("reflection === undefined ? advantage : ", "", "other turns lose the outcome"),
  inMethod("credits/Retrieval")("found ? 0 : advantage", "advantage", "good searches are punished"),
  inMethod("credits/Information")("logistic(-spread", "logistic(spread", "the gate opens where outcomes differ"),
  inFile("packages/coevolution/src/internal/perform/Counterfactual.ts")(
    "observation: response.slice(end, next)",
    "observation: response.slice(0, next)",
    "what is hidden is more than the observation"
  ),
  inFile("packages/coevolution/src/internal/perform/Judging.ts")(
    "[...path, time].join",
    "[...path, 0].join",
    "a judge that is asked twice is read once"
  ),
  inFile("packages/coevolution/src/internal/perform/Judging.ts")(
    "Ledger.nothing : Ledger.ofSpent(spent)",
    "Ledger.nothing : Ledger.nothing",
    "a judge costs nothing"
  ),
  inFile("packages/coevolution/src/internal/perform/Judging.ts")(
    "turns.withPermits(atOnce)(Effect.fail(error))",
    "Effect.fail(error)",
    "a failure loses the replies under way"
  ),
  inShaping("answer: comparedAnswer(trajectory),", "", "the same answer in other words is another one"),
  inShaping('["invalid", ...ownActions]', "[]", "an invalid turn is a call of a tool"),
  inFile("packages/coevolution/src/internal/perform/Turns.ts")(
    ".includes(words(answer))",
    ".includes(ExactMatch.normalizeAnswer(answer))",
    "a part of a word is an answer"
  ),
  inShaping("grouped(algorithm, trajectories).flat(), findings", "trajectories, findings", "places swap findings"),
  inFile("packages/coevolution/src/Replay.ts")(
    "Layer.succeed(JudgeModels, judgesOnRecord),",
    "",
    "a run with a judge cannot be replayed"
  ),
  inFile("packages/coevolution/src/ClauseTexts.ts")("!shared.has(clause)", "true", "a known clause is trained again"),
  inFile("packages/coevolution/src/ClauseTexts.ts")(
    "answer: consequence",
    "answer: condition",
    "the condition is the answer"
  ),
  inFile("packages/coevolution/src/Internalizing.ts")(
    "(update - 1) * perUpdate + index",
    "index",
    "every update has the same texts"
  ),
  inJudge("Pairs")("1 - chance(j, i)", "chance(i, j)", "a pair is judged in one order"),
  inJudge("Pairs")("texts[i] === texts[j]", "i === j", "equal texts are asked about"),
  inJudge("Steps")("rollout.reward <= 0", "rollout.reward < 0", "failures are checked for flaws"),
  inJudge("Steps")("turn <= last", "turn < Infinity", "a turn that is none is wrong"),
  inJudge("Rubric")("[\\s.…]*|", "", "a criterion is blank"),
  inJudge("KeyTurns")("turn + 1", "turn", "turns are counted from 0"),
  inJudge("Rubric")("(isPersistent ? [] : [{", "([{", "a criterion of the user takes a place of the others"),
  inJudge("Rubric")("Order.flip(Order.mapInput(", "(Order.mapInput(", "the criterion that separates most leaves"),
  inJudge("Rubric")("best - (scores[index] ?? 0)", "(scores[index] ?? 0)", "faults are praised"),
  inJudge("Rubric")("read.length < group.length", "read.length === 0", "some have scores and others rewards"),
  inJudge("Reflections")("slice(0, at + 1)", "slice(0)", "a judge of reflections sees how lucky they were"),
  inJudge("Reflections")("turn === at && score", "score", "all turns are reflections"),
  inJudge("Reflections")("score >= 0 && score <= best", "true", "a reflection scores more than 1"),
  inJudge("Turns")("all.every((score) => score >= 0 && score <= best)", "true", "a turn scores more than 1"),
  inFile("packages/reward/src/Judge.ts")(
    'text.replaceAll("<", "(")',
    'text.replaceAll("<", "<")',
    "a rollout writes its own verdict"
  ),
  inMethod("credits/States")(
    "Map.groupBy(turns, ({ state }) => state)",
    "Map.groupBy(turns, () => 0)",
    "states do not matter"
  ),
  inMethod("credits/Anytime")("turns.slice(0, s)\n", "turns.slice(0, s + 1)\n", "the baseline reads the present score"),
  inMethod("credits/Anytime")("row[cut] ?? row.at(-1)", "row[cut]", "an early success loses to a late one"),

  inMethod("keeps/All")("() => true", "(_, index) => index > 0", "the first rollouts are lost"),
  inMethod("keeps/Differing")("!Moments.allEqual(rewards))\n", "Moments.allEqual(rewards))\n", "keeps equal groups"),
  inMethod("Keeps")("Math.min(missing, left)", "missing", "dynamic sampling has no limit"),
  inMethod("keeps/Difficulty")("mean(rewards) <= high", "true", "the window has no upper bound"),
  inMethod("keeps/Difficulty")("|| !open.includes(true)", "", "nothing is left to train"),
  inMethod("keeps/Finished")("!truncated", "truncated", "keeps what was cut off"),
  inMethod("keeps/Varied")("Math.ceil(", "Math.floor(", "the share is rounded down"),
  inMethod("Keep")("move(order[low - 1], 1)", "move(order[low], 1)", "a kept value is not counted"),

  inMethod("corrections/Truncate")(
    "byToken((ratio, { bound }) => Math.min(ratio, bound))",
    "byToken((ratio) => ratio)",
    "weights of tokens have no bound"
  ),
  inMethod("corrections/Truncate")(
    "bySequence((ratio, { bound }) => Math.min(ratio, bound))",
    "bySequence((ratio) => ratio)",
    "weights of sequences have no bound"
  ),
  inMethod("Correction")("ratio >= low && ratio <= high", "ratio <= high", "masks have no lower bound"),
  inMethod("Weighing")(
    "{ ...datum, logprobs, advantages }",
    "{ ...datum, advantages }",
    "ratios start from the sampler"
  ),
  inMethod("Weighing")("advantages[token] = factor * ", "advantages[token] = ", "a correction does nothing"),
  inMethod("corrections/Reject")("advantage < 0 &&", "", "successes are rejected"),
  inMethod("corrections/Reject")("inverse >= low && inverse <= high", "inverse >= low", "rejection has one bound"),

  inRules("reward?.replacesRewards === true", "false", "further questions are asked until unread rewards differ"),
  inRules("reward !== null && reward.isNeverNegative !== true", "false", "a mean below 0 divides"),
  inRules("&& shaping.limit === advantage.limit", "", "budgets are compared with the best of others"),
  inRules("&& agent.restarts === true", "&& false", "a trajectory is clipped by its segments"),
  inRules("constant in method && !fits(value)", "false", "constants are not checked"),
  inMemory(".slice(-size)", ".slice(0, size)", "the newest success leaves"),
  inMemory(" && Moments.mean(rewards) < low", "", "groups of successes count as failed"),
  inMemory("b.score - a.score", "a.score - b.score", "the best groups leave"),

  agent("Memory")(
    "const kept = memory.filter(([id]) => !ids.includes(id))",
    "const kept = memory",
    "what was pruned is shown again"
  ),
  agent("Memory")("          id++\n", "", "a number is used again"),
  agent("Memory")("isKnown && spare(prompt(written(pruned))) > 0", "isKnown", "a prune ends the episode"),
  agent("Graph")(
    "conversation.open(Prompt.messages(instruction, asked, config, { request }))\n",
    "\n",
    "the policy is not shown what it can do"
  ),
  agent("Lookahead")(
    "conversation.turns.length + way.length > config.maxTurns",
    "false",
    "a plan goes on after the last turn"
  ),
  agent("Reflect")(
    "conversation.turns.length + config.maxTurns",
    "config.maxTurns",
    "the attempt takes turns of the next one"
  ),
  agent("Reflect")(
    'action.kind === "answer" ? { kind: "invalid", content: "" } : action',
    "action",
    "an answer is a reflection"
  ),
  agent("Reflect")('kind === "invalid" || spare === 0', "spare === 0", "what is no reflection is shown"),
  agent("Reflect")("turns.slice(-1), ...turns.slice(0, -1)", "turns", "an excerpt loses the answer"),
  agent("Reflect")("if (room === 0) return ending", "", "an attempt without room to reflect is lost"),
  agent("Delethink")("tokens.length - (kept - first)", "tokens.length - kept", "more is carried than the limit"),
  agent("Delethink")("chunk === 1 ? limit : limit - kept", "limit", "later chunks are too long"),
  agent("Budgets")("member % budgets.length", "0", "all members have one budget"),
  agent("ToolLoop")(" && !isCut", "", "a turn that was cut is an invalid one"),
  agent("ToolLoop")("if (before !== undefined) yield* before(conversation)", "", "no answer is asked for"),
  agent("Defer")(
    'action.kind === "answer" ? { kind: "invalid", content: "" } : action',
    "action",
    "an answer needs no decision"
  ),
  agent("Graph")('if (action.kind === "score")', "if (false)", "a score is a thought"),
  agent("Lookahead")("way.value > best.value", "way.value < best.value", "the worst draft is taken"),
  agent("Lookahead")("Math.max(value, end.value)", "end.value", "the last continuation decides"),
  agent("Modes")("Math.floor(member / each)", "member", "shares of forced modes are not exact"),
  agent("Modes")('text.includes("<think>")', "false", "instant answers think"),

  ofGroup("Agreement")("answer === null || alone", "answer === null", "singletons are rewarded"),
  ofGroup("Tournament")("other !== index", "true", "a rollout plays itself"),
  ofGroup("HistoryLength")("Math.min(0, f)", "f", "short failures are praised"),
  ofGroup("HistoryLength")("length < 2 * best", "length < best", "a success of no more length is punished"),
  ofGroup("Budget")("Math.abs(length - announced)", "0", "a budget is no target"),
  ofGroup("Flawed")("? penalty * reward : 0", "? 0 : penalty * reward", "sound successes are punished"),
  ofGroup("Costs")("(prices[tool] ?? 0) * count", "prices[tool] ?? 0", "a second call is free"),
  ofGroup("Costs")("1 - p ** alpha", "p ** alpha", "tools are free on easy questions"),
  ofGroup("Length")("-1, 0)", "-2, 0)", "more than 1 is taken"),
  ofGroup("Length")("-least - (most - least) * share", "-most + (most - least) * share", "short failures are praised"),
  ofGroup("Repetition")("word.toLowerCase()", "word", "case matters"),
  ofGroup("Stability")("answer !== null && ", "", "no answers agree")
]
