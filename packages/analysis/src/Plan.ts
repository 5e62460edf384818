/** Forecasts what a run does and spends, before it starts. */
import { Learners } from "@inspo/reflection"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Schema } from "effect"
import { sumAll } from "effect/Number"
import { type Agent, Agents } from "@inspo/rollout"
import { Interval } from "@inspo/statistics"
import {
  type Algorithm,
  type DecisionContext,
  type RunEvent,
  type RunState,
  Rounds,
  Schedule,
  type Strategies
} from "@inspo/coevolution"
import { begun, type HeldOut, lessonOf, type Move, play, scripted } from "./DryRun.ts"
import { warnings } from "./internal/PlanWarnings.ts"

const Count = Schema.Int

/** The minimum, the expected number and the maximum. */
export const Bounds = Schema.Struct({ min: Count, expected: Count, max: Count })
export interface Bounds extends Schema.Schema.Type<typeof Bounds> {}

/**
 * The plan of a run: the document that `inspo plan --json` prints, and a public contract.
 *
 * - `prunes` and `evolutions`: those of a run in which instructions perform about equally and every candidate passes.
 * - `rollouts`: `train` is exact, or the most where steps can have further rounds; `verification` is the expected number; `evaluation` assumes that the best instruction is
 *   not the seed, otherwise the final table takes half as many.
 * - `bounds`: no evolution finds failures to learn from (`min`); the candidates of every evolution pass (`expected`); no
 *   candidate ever passes, and nothing is ever rewarded (`max`). A proposer call is one request to the proposer, including that
 *   for the first population, and what one that learns asks before a proposal.
 * - `valueHalfWidth`: half the width of a 95 % interval of a value, in units of reward, after a full window in a full
 *   population that shares the batch evenly. The unit is the group, with the largest possible variance of a mean in [0, 1],
 *   1/4. At most 0.5.
 */
export const Plan = Schema.Struct({
  steps: Count,
  prunes: Schema.Array(Schema.Struct({ step: Count, from: Count, to: Count })),
  evolutions: Schema.Array(Schema.Struct({ step: Count })),
  rollouts: Schema.Struct({ train: Count, verification: Count, evaluation: Count }),
  bounds: Schema.Struct({ verification: Bounds, proposerCalls: Bounds }),
  valueHalfWidth: Schema.Finite,
  warnings: Schema.Array(Schema.String)
})
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** A plan with further details for display. */
export interface Forecast extends Plan {
  /** How many instructions are alive during each step, from step 1 on. */
  readonly population: ReadonlyArray<number>
  /** Most tokens of prompts and responses that the limits allow the agent, at the largest number of rollouts. */
  readonly maximumTokens: number
}

/** The questions of a run: those to train on, and the number of held-out ones. */
export interface Questions extends HeldOut {
  readonly train: ReadonlyArray<Strategies.QuestionRef>
}

/**
 * Plans a run by simulating it: `next` and `apply` decide as in the run, a script replaces engine and proposer. Each
 * evolution is simulated with several outcomes from its start, which gives the bounds. `agent` is that of the config by default.
 *
 * @example
 * ```ts
 * import { Plan } from "@inspo/analysis"
 * import { Presets, Strategies } from "@inspo/coevolution"
 *
 * declare const train: ReadonlyArray<Strategies.QuestionRef>
 *
 * Plan.forecast(Strategies.deciding(Presets.paper), { train, validation: 100, test: 500 }).rollouts.train // 768000 with 512 questions or more
 * ```
 */
export const forecast = (
  deciding: Strategies.Deciding,
  questions: Questions,
  agent: Agent = Agents.fromConfig(deciding.algorithm.rollout)
): Forecast => {
  const { algorithm } = deciding
  const context = played(deciding, questions.train)
  const environment = scripted(context, questions)
  let expected = nothing
  const population: Array<number> = []
  const evolutions: Array<RunState.RunState> = []
  const decisions: Array<Move> = []
  let last = begun(context)
  for (const move of play(context, last, environment)) {
    const { after, before, event } = move
    last = after
    expected = add(expected, costOf(algorithm, move))
    if (event._tag === "StepPlanned") {
      population.push(before.population.members.length)
    }
    if (event._tag === "ParentsChosen") evolutions.push(after)
    if (decisive.has(event._tag)) decisions.push(move)
  }

  // The final table is twice as large where the best instruction is not the seed, as is assumed.
  const table = sumAll(last.evaluations.map(({ groups }) => groups.length))
  const isSeed = new Set(last.evaluations.map(({ instruction }) => instruction)).size === 1
  const evaluation = expected.evaluation + (isSeed && last.instructions.length > 1 ? table : 0)

  const proposals = decisions.filter(({ command }) => command._tag === "Propose").length
  const initial = { ...nothing, calls: expected.calls - proposals }
  const evolved = (other: DecisionContext): Cost =>
    evolutions
      .map((state) =>
        total(
          algorithm,
          play(other, state, environment, ({ phase }) => phase._tag !== "Evolve")
        )
      )
      .reduce(add, initial)
  const least = evolved(withoutFailures(context))
  const most = evolved(withoutPasses(context))
  const largest = most.calls + Schedule.searchSteps(algorithm).length * algorithm.selection.rounds
  // Of the first proposal there is nothing to learn before.
  const lessons =
    Learners.fromConfig(algorithm.proposer.kind) !== undefined ? Math.max(0, largest - initial.calls - 1) : 0

  return {
    steps: algorithm.schedule.steps,
    prunes: decisions.flatMap(prunings),
    evolutions: evolutions.map(({ step }) => ({ step })),
    rollouts: { train: expected.train, verification: expected.verification, evaluation },
    bounds: {
      verification: { min: least.verification, expected: expected.verification, max: most.verification },
      proposerCalls: {
        min: least.calls,
        expected: expected.calls + expected.lessons,
        max: largest + lessons
      }
    },
    valueHalfWidth: valueHalfWidth(algorithm, questions.train.length),
    warnings: warnings(algorithm, { decisions }),
    population,
    maximumTokens: (expected.train + most.verification + evaluation) * Agents.maximumTokens(agent, algorithm.rollout)
  }
}

/** Events that the plan uses; all others are dropped at once, with their states, to save memory. */
const decisive: ReadonlySet<RunEvent["_tag"]> = new Set([
  "Pruned",
  "CandidatesProposed",
  "CandidatesVerified",
  "CandidatesJudged",
  "PopulationRefilled"
])

interface Cost {
  readonly train: number
  readonly verification: number
  readonly evaluation: number
  readonly calls: number
  /** Calls before proposals. */
  readonly lessons: number
}

const nothing: Cost = { train: 0, verification: 0, evaluation: 0, calls: 0, lessons: 0 }

const add = (a: Cost, b: Cost): Cost => ({
  train: a.train + b.train,
  verification: a.verification + b.verification,
  evaluation: a.evaluation + b.evaluation,
  calls: a.calls + b.calls,
  lessons: a.lessons + b.lessons
})

const total = (algorithm: Algorithm, moves: Iterable<Move>): Cost => {
  let sum = nothing
  for (const move of moves) sum = add(sum, costOf(algorithm, move))
  return sum
}

const costOf = (algorithm: Algorithm, { command, event }: Move): Cost => {
  switch (command._tag) {
    case "Initialise":
      return { ...nothing, calls: command.size > command.seeds.length ? 1 : 0 }
    case "Collect": {
      const { questions, samples, step } = command.plan
      const planned = sumAll(samples ?? questions.map(() => algorithm.rollout.groupSize))
      return { ...nothing, train: planned + Rounds.mostRollouts(algorithm, step, questions.length) }
    }
    case "Propose":
      return { ...nothing, calls: 1, lessons: (lessonOf(algorithm, command)?.question ?? null) === null ? 0 : 1 }
    case "Verify":
      return { ...nothing, verification: event._tag === "CandidatesVerified" ? event.rollouts : 0 }
    case "Validate":
    case "Evaluate":
      return {
        ...nothing,
        evaluation: event._tag === "Validated" || event._tag === "Evaluated" ? event.groups.length : 0
      }
    default:
      return nothing
  }
}

/** Without the limit per question, which takes time and has no effect: a simulated question has one experience per step. */
const played = (
  { algorithm, strategies }: Strategies.Deciding,
  questions: DecisionContext["questions"]
): DecisionContext => {
  const { add } = ReplayBuffer.make({ ...algorithm.selection, perQuestionCap: null })
  return {
    algorithm,
    strategies: { ...strategies, buffer: { ...strategies.buffer, add } },
    questions
  }
}

/** The context of a run whose instructions never fail. */
const withoutFailures = (context: DecisionContext): DecisionContext => ({
  ...context,
  strategies: { ...context.strategies, buffer: { ...context.strategies.buffer, failures: () => [] } }
})

/** The context of a run whose candidates never pass. */
const withoutPasses = (context: DecisionContext): DecisionContext => {
  const { verification } = context.strategies
  const judge: typeof verification.judge = (evidence) =>
    verification.judge(evidence).map((verdict) => ({ ...verdict, accepted: false }))
  return { ...context, strategies: { ...context.strategies, verification: { ...verification, judge } } }
}

const prunings = ({ after, before, event }: Move): Plan["prunes"] => {
  const from = before.population.members.length
  const to = after.population.members.length
  return event._tag === "Pruned" && to < from ? [{ step: event.step, from, to }] : []
}

const valueHalfWidth = ({ population, selection, train }: Algorithm, questions: number): number => {
  const groups = (selection.window * Math.min(train.batchSize, questions)) / population.size
  return Math.min(0.5, Interval.halfWidth(groups))
}
