/** Every metric that trackers are told: its name, what it means, and what verl calls it. */
import type { RunEvent } from "@inspo/coevolution"

/** What a metric has one value for each of; its id or name is the last part of the metric's name. */
export type Label = "instruction" | "source"

export interface Definition {
  readonly label: Label | null
  readonly unit: string
  readonly meaning: string
  /** The event after which it is told; `null` where the ledger tells it, once per step. */
  readonly event: RunEvent["_tag"] | null
  /** What verl calls it, `{}` standing for the label; `null` where verl has no such metric. */
  readonly verl: string | null
}

/** The metrics by name. A labelled one is told as `name/label`, such as `inspo/value/i3`. */
export const catalogue = {
  "reward/mean": {
    label: null,
    unit: "reward",
    meaning: "Mean training reward over the trajectories of the step",
    event: "RolloutsCollected",
    verl: "critic/score/mean"
  },
  "reward/std": {
    label: null,
    unit: "reward",
    meaning: "Standard deviation of the rewards of the step",
    event: "RolloutsCollected",
    verl: null
  },
  reward: {
    label: "source",
    unit: "reward",
    meaning: "Mean training reward over the trajectories of one data source",
    event: "RolloutsCollected",
    verl: null
  },
  "groups/mixed": {
    label: null,
    unit: "share",
    meaning: "Groups with different rewards: those whose advantages are not all 0",
    event: "RolloutsCollected",
    verl: null
  },
  "tool_calls/mean": {
    label: null,
    unit: "calls",
    meaning: "Tool calls per trajectory",
    event: "RolloutsCollected",
    verl: "tool_call_counts/mean"
  },
  // verl's num_turns/mean counts the messages of the user too.
  "turns/mean": {
    label: null,
    unit: "turns",
    meaning: "Turns of the policy per trajectory, those with an invalid action included",
    event: "RolloutsCollected",
    verl: null
  },
  "prompt_length/mean": {
    label: null,
    unit: "tokens",
    meaning: "Length of the prompt, as a mean over groups",
    event: "RolloutsCollected",
    verl: "prompt_length/mean"
  },
  "response_length/mean": {
    label: null,
    unit: "tokens",
    meaning: "Length of the response with its observations, per trajectory",
    event: "RolloutsCollected",
    verl: "response_length/mean"
  },
  "rollouts/failed": {
    label: null,
    unit: "rollouts",
    meaning: "Rollouts of the step that a tool or the reward failed",
    event: "RolloutsCollected",
    verl: null
  },
  lr: {
    label: null,
    unit: "1",
    meaning: "Learning rate of the step",
    event: "StepPlanned",
    verl: "actor/lr"
  },
  loss: {
    label: null,
    unit: "1",
    meaning: "Loss, as a mean over the optimizer steps",
    event: "StepTrained",
    verl: "actor/loss"
  },
  kl: {
    label: null,
    unit: "nats",
    meaning: "KL divergence from the reference policy per token (k3 estimate)",
    event: "StepTrained",
    verl: "actor/kl_loss"
  },
  clipfrac: {
    label: null,
    unit: "share",
    meaning: "Action tokens whose probability ratio was clipped",
    event: "StepTrained",
    verl: "actor/pg_clipfrac"
  },
  grad_norm: {
    label: null,
    unit: "1",
    meaning: "Global norm of the gradient before it is clipped",
    event: "StepTrained",
    verl: "actor/grad_norm"
  },
  "rollouts/train": {
    label: null,
    unit: "rollouts",
    meaning: "Training rollouts since the run began",
    event: "StepTrained",
    verl: null
  },
  "rollouts/verification": {
    label: null,
    unit: "rollouts",
    meaning: "Verification rollouts since the run began",
    event: "StepTrained",
    verl: null
  },
  "tokens/train": {
    label: null,
    unit: "tokens",
    meaning: "Tokens of training rollouts since the run began",
    event: "StepTrained",
    verl: null
  },
  "tokens/verification": {
    label: null,
    unit: "tokens",
    meaning: "Tokens of verification rollouts since the run began",
    event: "StepTrained",
    verl: null
  },
  "inspo/population": {
    label: null,
    unit: "instructions",
    meaning: "Instructions alive",
    event: "StepTrained",
    verl: null
  },
  "inspo/value": {
    label: "instruction",
    unit: "reward",
    meaning: "Value of a living instruction (Eq. 6)",
    event: "StepTrained",
    verl: null
  },
  "inspo/prob": {
    label: "instruction",
    unit: "share",
    meaning: "Probability with which the sampler draws an instruction (Eq. 4)",
    event: "StepPlanned",
    verl: null
  },
  "inspo/pruned": {
    label: null,
    unit: "instructions",
    meaning: "Instructions pruned after the step",
    event: "Pruned",
    verl: null
  },
  "inspo/proposed": {
    label: null,
    unit: "candidates",
    meaning: "Candidates of a proposal that may be verified",
    event: "CandidatesProposed",
    verl: null
  },
  "inspo/accepted": {
    label: null,
    unit: "candidates",
    meaning: "Candidates that entered the population after the step",
    event: "PopulationRefilled",
    verl: null
  },
  "val/reward/mean": {
    label: null,
    unit: "share",
    meaning: "Mean reward on the validation questions",
    event: "Validated",
    verl: null
  },
  "val/reward": {
    label: "source",
    unit: "share",
    meaning: "The same over the questions of one data source",
    event: "Validated",
    verl: "val-core/{}/reward/mean@1"
  },
  "test/reward/before": {
    label: "instruction",
    unit: "share",
    meaning: "Mean reward on the test questions, by the policy before training under an instruction",
    event: "Evaluated",
    verl: null
  },
  "test/reward/after": {
    label: "instruction",
    unit: "share",
    meaning: "Mean reward on the test questions, by the policy after training under an instruction",
    event: "Evaluated",
    verl: null
  },
  "budget/rollouts": {
    label: null,
    unit: "rollouts",
    meaning: "Rollouts paid for since the run began, redone ones included",
    event: null,
    verl: null
  },
  "budget/tokens": {
    label: null,
    unit: "tokens",
    meaning: "Tokens paid for, of the policy and of the proposer's model",
    event: null,
    verl: null
  },
  "budget/calls": {
    label: null,
    unit: "calls",
    meaning: "Calls of the proposer's model",
    event: null,
    verl: null
  },
  "budget/usd": {
    label: null,
    unit: "US dollars",
    meaning: "Money spent",
    event: null,
    verl: null
  },
  "budget/minutes": {
    label: null,
    unit: "minutes",
    meaning: "Time spent, summed over resumes",
    event: null,
    verl: null
  }
} as const satisfies Record<string, Definition>

export type MetricName = keyof typeof catalogue
