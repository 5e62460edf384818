/** Every metric that trackers get: its name, and what it means. */
import type { RunEvent } from "@inspo/coevolution"

/** What a metric has one value for each of; its id or name is the last part of the metric's name. */
export type Label = "instruction" | "source"

export interface Definition {
  readonly label: Label | null
  readonly unit: string
  readonly meaning: string
  /** The event after which it is reported; `null` where the ledger reports it, once per step. */
  readonly event: RunEvent["_tag"] | null
}

const of =
  (event: Definition["event"]) =>
  (unit: string, meaning: string, label: Definition["label"] = null): Definition => ({ label, unit, meaning, event })

const rollouts = of("RolloutsCollected")
const planned = of("StepPlanned")
const judged = of("TrainingPlanned")
const trained = of("StepTrained")
const validated = of("Validated")
const evaluated = of("Evaluated")
const pruned = of("Pruned")
const proposed = of("CandidatesProposed")
const refilled = of("PopulationRefilled")
const spent = of(null)

/** The metrics by name. A labelled one is reported as `name/label`, such as `inspo/value/i3`. */
export const catalogue = {
  "reward/mean": rollouts("reward", "Mean training reward over the trajectories of the step"),
  "reward/std": rollouts("reward", "Standard deviation of the rewards of the step"),
  reward: rollouts("reward", "Mean training reward over the trajectories of one data source", "source"),
  "groups/mixed": rollouts("share", "Groups with different rewards: those whose advantages are not all 0"),
  "tool_calls/mean": rollouts("calls", "Tool calls per trajectory"),
  "turns/mean": rollouts("turns", "Turns of the policy per trajectory, those with an invalid action included"),
  entropy: rollouts("nats", "Mean surprise of the sampled tokens: an estimate of the policy's entropy per token"),
  "prompt_length/mean": rollouts("tokens", "Length of the prompt, as a mean over groups"),
  "response_length/mean": rollouts("tokens", "Length of the response with its observations, per trajectory"),
  "rollouts/failed": rollouts("rollouts", "Rollouts of the step that a tool or the reward failed"),
  "judge/asked": judged("questions", "Questions to the judge of groups or turns"),
  "judge/unread": judged("questions", "Questions without a reply that can be read"),
  "judge/noise": judged("share", "Questions that were asked twice with another verdict"),
  lr: planned("1", "Learning rate of the step"),
  loss: trained("1", "Loss, as a mean over the optimizer steps"),
  kl: trained("nats", "KL divergence from the reference policy per token (k3 estimate)"),
  clipfrac: trained("share", "Action tokens whose probability ratio was clipped"),
  grad_norm: trained("1", "Global norm of the gradient before it is clipped"),
  "rollouts/train": trained("rollouts", "Training rollouts since the run began"),
  "rollouts/verification": trained("rollouts", "Verification rollouts since the run began"),
  "tokens/train": trained("tokens", "Tokens of training rollouts since the run began"),
  "tokens/verification": trained("tokens", "Tokens of verification rollouts since the run began"),
  "inspo/population": trained("instructions", "Instructions alive"),
  "inspo/value": planned("reward", "Value of a living instruction before the step", "instruction"),
  "inspo/best": planned(
    "share",
    "Probability that an instruction is the best, compared within questions",
    "instruction"
  ),
  "inspo/prob": planned("share", "Share of an instruction in the draws of the sampler", "instruction"),
  "inspo/pruned": pruned("instructions", "Instructions pruned after the step"),
  "inspo/proposed": proposed("candidates", "Candidates of a proposal that may be verified"),
  "inspo/accepted": refilled("candidates", "Candidates that entered the population after the step"),
  "val/reward/mean": validated("share", "Mean reward on the validation questions"),
  "val/reward": validated("share", "The same over the questions of one data source", "source"),
  "test/reward/before": evaluated(
    "share",
    "Mean reward on the test questions, by the policy before training under an instruction",
    "instruction"
  ),
  "test/reward/after": evaluated(
    "share",
    "Mean reward on the test questions, by the policy after training under an instruction",
    "instruction"
  ),
  "budget/rollouts": spent("rollouts", "Rollouts paid for since the run began, redone ones included"),
  "budget/tokens": spent("tokens", "Tokens paid for, of the policy and of the proposer"),
  "budget/calls": spent("calls", "Calls of the proposer"),
  "budget/usd": spent("US dollars", "Money spent"),
  "budget/minutes": spent("minutes", "Time spent, summed over resumes")
} satisfies Record<string, Definition>

export type MetricName = keyof typeof catalogue
