/** Whole runs of the pure core in an environment that only counts. */
import {
  next,
  Presets,
  type Algorithm,
  type RunEvent,
  RunState,
  type DecisionContext,
  Strategies
} from "@inspo/coevolution"
import { Question } from "@inspo/domain"
import { Array as Arr } from "effect"
import { DryRun } from "@inspo/analysis"
import * as Environment from "../../../test/laws/support/Environment.ts"

export const base: Readonly<Record<Algorithm["selection"]["removal"], Algorithm>> = {
  "bottom-half": Presets.paper,
  "fixed-half": { ...Presets.paper, selection: { ...Presets.paper.selection, removal: "fixed-half" } },
  evidence: Presets.robust
}

/** Far more than a step needs, of three sources. */
const questions = Arr.makeBy(20_000, (index) => ({
  id: Question.QuestionId.make(`question ${index}`),
  dataSource: `source ${index % 3}`
}))

export const contextOf = (algorithm: Algorithm): DecisionContext => ({ ...Strategies.deciding(algorithm), questions })

/** Rewards that are the same for all instructions; nothing fails and nothing is missing. */
const luck: Environment.Luck = {
  rewards: [0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1],
  missing: [0],
  isTilted: false,
  failing: [false]
}

/** A run until it ends or `over` holds: its first state, its events and its last state. */
export const play = (context: DecisionContext, over?: (state: RunState.RunState) => boolean) => {
  const { perform } = Environment.make(context.algorithm, questions)
  const start = DryRun.begun(context)
  const events: Array<RunEvent> = []
  let state = start
  for (const { after, event } of DryRun.play(context, start, (command) => perform(command, luck), over)) {
    events.push(event)
    state = after
  }
  return { start, events, state }
}

/** Selection, attribution and pruning of step 15, before the first pruning. */
export const stepParts = (rule: Algorithm["selection"]["removal"], batchSize: number) => {
  const algorithm: Algorithm = {
    ...base[rule],
    schedule: { ...base[rule].schedule, steps: 15, pruneEvery: 0, evolveEvery: 0 },
    train: {
      ...base[rule].train,
      batchSize,
      miniBatch: { ...base[rule].train.miniBatch, size: Math.min(batchSize, base[rule].train.miniBatch.size) }
    }
  }
  const context = contextOf(algorithm)
  const { removal, valuation } = context.strategies
  const planning = play(context, ({ phase, step }) => step === 14 && phase._tag === "Plan").state
  const { events, state } = play(context, ({ phase }) => phase._tag === "Evaluate")
  const groups = events.flatMap((event) =>
    event._tag === "RolloutsCollected" && event.step === 15 ? event.groups : []
  )
  const values = valuation.values(state.population)
  return {
    selection: () => (RunState.isRunning(planning) ? next(context, planning) : null),
    attribution: () => valuation.observe(planning.population, 15, groups),
    pruning: () => removal.prune(state.population, values)
  }
}
