/** Selects the checkpoint that a run returns, and the checkpoints to keep until then. */
import { Array as Arr, Order } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import type { RunState, SavedCheckpoint, Validation } from "./RunState.ts"

/** The policy after `step`, and the rule that selected it; `last` also if another rule did not apply. */
export interface Selected {
  readonly step: number
  readonly rule: Algorithm["evaluation"]["select"]
}

/**
 * The policy to return in the current state.
 *
 * `best` takes the highest mean on the validation questions, the later one among equals. `before-collapse` takes the last
 * validated policy up to the end of the best 10 steps before a collapse, and the initial one if none was validated by then.
 */
export const selected = ({ evaluation }: Algorithm, state: RunState): Selected => {
  const last = { step: state.step, rule: "last" } as const
  if (evaluation.select === "best") {
    const validated = Arr.last(Arr.sort(state.validations, byMean))
    return validated._tag === "None" ? last : { step: validated.value.step, rule: "best" }
  }
  const { best, collapse } = state.rewardTrend
  if (evaluation.select === "last" || best === null || collapse === null) return last
  return { step: lastValidated(state, best.step), rule: "before-collapse" }
}

/**
 * The checkpoints to remove when a new one is written. Keeps the first, which the final table needs, those that can still be
 * selected, and of the others the `checkpoint.keep` newest, since the new one is not committed yet.
 */
export const stale = (algorithm: Algorithm, state: RunState): ReadonlyArray<SavedCheckpoint> => {
  const { keep } = algorithm.checkpoint
  if (keep === null) return []
  const eligible = new Set([0, ...eligibleSteps(algorithm, state)])
  return state.checkpoints.slice(0, -keep).filter(({ step }) => !eligible.has(step))
}

const eligibleSteps = (algorithm: Algorithm, state: RunState): ReadonlyArray<number> => {
  const { select } = algorithm.evaluation
  if (select === "last") return []
  if (select === "best") return [selected(algorithm, state).step]
  const { best } = state.rewardTrend
  const from = best === null ? 0 : lastValidated(state, best.step)
  return state.validations.flatMap(({ step }) => (step >= from ? [step] : []))
}

const lastValidated = ({ validations }: RunState, step: number): number =>
  validations.reduce((latest, one) => (one.step <= step ? Math.max(latest, one.step) : latest), 0)

/** Worst first; a stable sort leaves the later of equals last. */
const byMean: Order.Order<Validation> = Order.mapInput(Order.Number, ({ mean }) => mean)
