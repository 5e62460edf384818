import type { Ledger } from "@inspo/ledger"
import { type Folding, type RunEvent, type RunState, RunState as State, apply } from "@inspo/coevolution"
import { Group, Trajectory } from "@inspo/domain"
import { Option, Schema, Struct } from "effect"
import { catalogue, type MetricName } from "./Catalogue.ts"

/** The value of one metric; `label` is null where the catalogue names none. */
export interface Sample {
  readonly name: MetricName
  readonly label: string | null
  readonly value: number
}

/** What is known of a step at one moment. A labelled metric is reported whole: labels that are missing have no value any more. */
export interface Point {
  readonly step: number
  readonly samples: ReadonlyArray<Sample>
}

/**
 * What an event reports to trackers, `state` being the one it led to; null for most events. A function of the journal alone.
 *
 * @example
 * ```ts
 * import { RunState } from "@inspo/coevolution"
 * import { Point } from "@inspo/tracking"
 *
 * const point = Point.ofEvent({ _tag: "Pruned", step: 5, pruned: [], kept: [] }, RunState.unstarted)
 * // { step: 5, samples: [{ name: "inspo/pruned", label: null, value: 0 }] }
 * ```
 */
export const ofEvent = (event: RunEvent, state: RunState.RunState): Point | null => {
  switch (event._tag) {
    case "StepPlanned":
      return {
        step: event.step,
        samples: [
          one("lr", event.learningRate),
          ...each(
            "inspo/value",
            event.values.map(({ id, value }) => [id, value])
          ),
          ...each(
            "inspo/best",
            event.values.flatMap(({ chance, id }) => (chance === undefined ? [] : [[id, chance]]))
          ),
          ...each("inspo/prob", Object.entries(event.probabilities))
        ]
      }
    case "RolloutsCollected":
      return {
        step: event.step,
        samples: [
          ...(event.groups.length === 0 ? [] : ofGroups(event.groups)),
          one("rollouts/failed", event.failed?.trajectories.length ?? 0)
        ]
      }
    case "TrainingPlanned": {
      const { again = 0, asked = 0, differing = 0, unread = 0 } = event.findings ?? {}
      if (asked === 0) return null
      const noise = again === 0 ? [] : [one("judge/noise", differing / again)]
      return { step: event.step, samples: [one("judge/asked", asked), one("judge/unread", unread), ...noise] }
    }
    case "StepTrained":
      return {
        step: event.step,
        samples: [
          ...(event.metrics.length === 0
            ? []
            : [
                one("loss", mean(event.metrics.map(({ loss }) => loss))),
                one("kl", mean(event.metrics.map(({ kl }) => kl))),
                one("clipfrac", mean(event.metrics.map(({ clipFraction }) => clipFraction))),
                one("grad_norm", mean(event.metrics.map(({ gradientNorm }) => gradientNorm)))
              ]),
          ...ofState(state)
        ]
      }
    case "Validated":
      return {
        step: event.step,
        samples:
          event.groups.length === 0
            ? []
            : [one("val/reward/mean", meanReward(event.groups)), ...bySource("val/reward", event.groups)]
      }
    case "Pruned":
      return { step: event.step, samples: [one("inspo/pruned", event.pruned.length)] }
    case "CandidatesProposed":
      return { step: event.step, samples: [one("inspo/proposed", event.candidates.length)] }
    case "PopulationRefilled":
      return { step: event.step, samples: [one("inspo/accepted", event.accepted.length)] }
    case "Evaluated":
      return {
        step: state.step,
        samples: state.evaluations.flatMap(({ groups, instruction, policy }) =>
          policy === event.policy && groups.length > 0
            ? [{ name: `test/reward/${policy}`, label: instruction, value: meanReward(groups) }]
            : []
        )
      }
    default:
      return null
  }
}

/** What the events of a run reported until now, in their order. */
export const history = (folding: Folding, events: ReadonlyArray<RunEvent>): ReadonlyArray<Point> => {
  const points: Array<Point> = []
  let state = State.unstarted
  for (const event of events) {
    state = apply(folding, state, event)
    const point = ofEvent(event, state)
    if (point !== null) points.push(point)
  }
  return points
}

/** What the stored trajectories of a step report to trackers beyond its event. Records that cannot be read are left out. */
export const ofTrajectories = (step: number, records: Iterable<unknown>): Point => {
  const stored = Array.from(records, (record) => decodeStored(record)).flatMap(Option.toArray)
  const sampled = stored.flatMap(({ earlier = [], ...last }) =>
    [...earlier, last].flatMap(({ logprobs = [], mask = [] }) => logprobs.filter((_, at) => mask[at] === 1))
  )
  return {
    step,
    samples: [
      ...(stored.length === 0 ? [] : [one("turns/mean", mean(stored.map(({ turns }) => turns)))]),
      ...(sampled.length === 0 ? [] : [one("entropy", -mean(sampled))])
    ]
  }
}

/** What the ledger reports to trackers after a step. */
export const ofSpending = (step: number, { calls, rollouts, seconds, tokens, usd }: Ledger.Amounts): Point => ({
  step,
  samples: [
    one("budget/rollouts", rollouts),
    one("budget/tokens", tokens),
    one("budget/calls", calls),
    one("budget/usd", usd),
    one("budget/minutes", seconds / 60)
  ]
})

/**
 * Leaves out what a point repeats: where a labelled metric grows label by label within a step, it is reported whole each
 * time. For trackers that keep every value; one keeps one memory for the points of a run, in their order.
 */
export const news = (): ((point: Point) => Point) => {
  let known = { step: Number.NaN, values: new Map<string, number>() }
  return (point) => {
    if (point.step !== known.step) known = { step: point.step, values: new Map() }
    const samples = point.samples.filter((sample) => known.values.get(nameOf(sample)) !== sample.value)
    for (const sample of samples) known.values.set(nameOf(sample), sample.value)
    return { ...point, samples }
  }
}

/** The names of all metrics, in the order of the catalogue. */
export const names: ReadonlyArray<MetricName> = Struct.keys(catalogue)

/** The whole name of a sample's metric, label included. */
export const nameOf = ({ label, name }: Pick<Sample, "name" | "label">): string =>
  label === null ? name : `${name}/${label}`

const { logprobs, mask } = Trajectory.Segment.fields
const Sampled = { logprobs: Schema.optionalKey(logprobs), mask: Schema.optionalKey(mask) }
const decodeStored = Schema.decodeUnknownOption(
  Schema.Struct({
    turns: Trajectory.TrajectorySummary.fields.turns,
    earlier: Schema.optionalKey(Schema.Array(Schema.Struct(Sampled))),
    ...Sampled
  })
)

const one = (name: MetricName, value: number): Sample => ({ name, label: null, value })

const each = (name: MetricName, values: Iterable<readonly [label: string, value: number]>): ReadonlyArray<Sample> =>
  Array.from(values, ([label, value]) => ({ name, label, value }))

const ofGroups = (groups: ReadonlyArray<Group.Group>): ReadonlyArray<Sample> => {
  const rewards = groups.flatMap((group) => group.rewards)
  return [
    one("reward/mean", mean(rewards)),
    one("reward/std", deviation(rewards)),
    ...bySource("reward", groups),
    one("groups/mixed", mean(groups.map((group) => (new Set(group.rewards).size > 1 ? 1 : 0)))),
    one("tool_calls/mean", mean(groups.flatMap(({ toolCalls }) => toolCalls))),
    one("prompt_length/mean", mean(groups.map(({ promptTokens }) => promptTokens))),
    one("response_length/mean", mean(groups.flatMap(({ responseTokens }) => responseTokens)))
  ]
}

const ofState = (state: RunState.RunState): ReadonlyArray<Sample> => [
  one("rollouts/train", state.spent.rollouts.train),
  one("rollouts/verification", state.spent.rollouts.verification),
  one("tokens/train", state.spent.tokens.train),
  one("tokens/verification", state.spent.tokens.verification),
  one("inspo/population", state.population.members.length)
]

/** Mean over all trajectories of each data source, in the order of their names. */
const bySource = (name: MetricName, groups: ReadonlyArray<Group.Group>): ReadonlyArray<Sample> =>
  each(
    name,
    [...Map.groupBy(groups, ({ dataSource }) => dataSource)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([source, own]) => [source, mean(own.flatMap(({ rewards }) => rewards))] as const)
  )

/** Mean over questions, each of which has one trajectory here. */
const meanReward = (groups: ReadonlyArray<Group.Group>): number => mean(groups.map(Group.meanReward))

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

const deviation = (values: ReadonlyArray<number>): number => {
  const center = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)))
}
