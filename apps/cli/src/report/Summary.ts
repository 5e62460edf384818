import { Degradation, RunState, Selection, Strategies } from "@inspo/coevolution"
import { Interval } from "@inspo/statistics"
import type { RunConfig } from "@inspo/config"
import { Group, Instruction } from "@inspo/domain"
import { Schema } from "effect"
import { sumAll } from "effect/Number"

const Share = Schema.Finite
const Count = Schema.Int
/** Of files that others may have changed. */
const ReadShare = Share.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** Mean reward, exact match by default, and executed searches per question of one policy under one instruction, on the test questions. */
export const Cell = Schema.Struct({
  policy: Schema.Literals(["before", "after"]),
  instruction: Schema.Literals(["seed", "best"]),
  n: Count,
  em: Share,
  /** Wilson interval with the question as its unit. */
  ci95: Interval.Interval,
  toolCalls: Schema.Finite
})
export interface Cell extends Schema.Schema.Type<typeof Cell> {}

/**
 * The static-instruction arm: the same policy and questions, trained with the seed instruction alone on as many rollouts
 * as the run spent on training and verification. `source` says whether this run trained it or a results file held it.
 */
export const Baseline = Schema.Struct({
  method: Schema.Literal("static"),
  source: Schema.Literals(["run", "cache"]),
  rollouts: Schema.Natural,
  em: ReadShare,
  ci95: Schema.Tuple([ReadShare, ReadShare])
})
export interface Baseline extends Schema.Schema.Type<typeof Baseline> {}

/** What `--json` prints of a finished run, a public contract. Without evaluation, `evaluation` is empty and `baseline` null. */
export const Summary = Schema.Struct({
  runDir: Schema.String,
  randomSeed: Count,
  /** Which strategies decided. */
  strategies: Strategies.Identities,
  steps: Count,
  rollouts: Schema.Struct({ train: Count, verification: Count, evaluation: Count }),
  /** Rollouts that a tool or the reward failed, left out of training, credit and every mean; absent when there are none. */
  failed: Schema.optionalKey(Schema.Struct({ train: Count, verification: Count, evaluation: Count })),
  seedInstruction: Schema.Struct({ id: Instruction.InstructionId, text: Schema.String }),
  bestInstruction: Schema.Struct({ id: Instruction.InstructionId, text: Schema.String, generation: Count }),
  /** Whether the instruction to use from now on is shown to be better than the seed. */
  learned: Schema.Boolean,
  /** What shows that the best instruction is better than the seed; null where nothing does. */
  evidence: Schema.NullOr(RunState.Evidence),
  /** The instruction of highest value, where nothing shows that it is better than the seed; else null. */
  unproven: Schema.NullOr(Instruction.InstructionId),
  /** The reward that `em` is the mean of: exact match (`em`) unless `reward.kind` names another. */
  measure: Schema.String,
  evaluation: Schema.Array(Cell),
  /** Mean reward on the validation questions, where the config asks for it. */
  validation: Schema.Array(Schema.Struct({ step: Count, mean: Share, n: Count })),
  /** The policy after training: that of `step`, and the rule of `evaluation.select` that chose it. */
  checkpoint: Schema.Struct({ step: Count, rule: Schema.Literals(["last", "best", "before-collapse"]) }),
  /** The first 10 steps, by the last of them, whose mean training reward fell below the share of the best 10. */
  collapse: Schema.NullOr(
    Schema.Struct({ step: Count, mean: Share, best: Schema.Struct({ step: Count, mean: Share }) })
  ),
  baseline: Schema.NullOr(Baseline),
  /** Whether something failed without ending the run, and what, one entry for each part. */
  degraded: Schema.Boolean,
  degradations: Schema.Array(Degradation.Degradation),
  wallSeconds: Schema.Finite
})
export interface Summary extends Schema.Schema.Type<typeof Summary> {}

export const encodeJson = Schema.encodeSync(Schema.fromJsonString(Summary))

/** The summary of a finished run; null while it has no best instruction yet. */
export const summarize = (run: {
  readonly runDir: string
  readonly config: RunConfig
  readonly state: RunState.RunState
  readonly outcome: { readonly baseline: Baseline | null; readonly degraded: ReadonlyArray<Degradation.Degradation> }
  readonly wallSeconds: number
}): Summary | null => {
  const { config, state } = run
  const seed = state.instructions[0]
  const { phase } = state
  if (seed === undefined || state.strategies === null || phase._tag !== "Finished") return null
  const { best: peak, collapse } = state.rewardTrend
  const best = RunState.instruction(state, phase.best)
  const evidence = phase.unproven === null && best.id !== seed.id ? state.evidence : null
  return {
    runDir: run.runDir,
    randomSeed: config.randomSeed,
    strategies: state.strategies,
    steps: state.step,
    rollouts: state.spent.rollouts,
    ...(Object.values(state.failed).some((failed) => failed > 0) ? { failed: state.failed } : {}),
    seedInstruction: { id: seed.id, text: seed.text },
    bestInstruction: { id: best.id, text: best.text, generation: best.generation },
    learned: evidence !== null,
    evidence,
    unproven: phase.unproven,
    measure: config.reward.kind.name,
    evaluation: (["before", "after"] as const).flatMap((policy) =>
      (
        [
          ["seed", seed],
          ["best", best]
        ] as const
      ).flatMap(([instruction, { id }]) => {
        const found = state.evaluations.find((entry) => entry.policy === policy && entry.instruction === id)
        return found === undefined ? [] : [{ policy, instruction, ...score(found.groups) }]
      })
    ),
    validation: state.validations.map(({ mean, questions, step }) => ({ step, mean, n: questions })),
    checkpoint: Selection.selected(config, state),
    collapse: peak === null || collapse === null ? null : { ...collapse, best: peak },
    baseline: run.outcome.baseline,
    ...degraded(state, run.outcome.degraded),
    wallSeconds: run.wallSeconds
  }
}

/** What failed in a run without ending it, and beside it. */
export const degraded = (
  state: Pick<RunState.RunState, "degraded">,
  beside: ReadonlyArray<Degradation.Degradation>
): Pick<Summary, "degraded" | "degradations"> => {
  const degradations = [...state.degraded, ...beside]
  return { degraded: degradations.length > 0, degradations }
}

/** Exact match, its interval and tool calls over groups of one question each. */
export const score = (groups: ReadonlyArray<Group.Group>): Pick<Cell, "n" | "em" | "ci95" | "toolCalls"> => {
  const n = groups.length
  const correct = sumAll(groups.map(Group.meanReward))
  return {
    n,
    em: n === 0 ? 0 : correct / n,
    ci95: Interval.wilson(correct, n),
    toolCalls: n === 0 ? 0 : sumAll(groups.map(({ toolCalls }) => sumAll(toolCalls) / toolCalls.length)) / n
  }
}

/** The cell of one policy and instruction, if it was evaluated. */
export const cell = (summary: Summary, policy: Cell["policy"], instruction: Cell["instruction"]): Cell | undefined =>
  summary.evaluation.find((entry) => entry.policy === policy && entry.instruction === instruction)
