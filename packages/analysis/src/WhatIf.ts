/** Computes the decisions of a finished run under other settings. */
import { Instruction } from "@inspo/domain"
import { Array as Arr, Equal, Option, Result, Schema } from "effect"
import { type RunEvent, Strategies } from "@inspo/coevolution"
import { minimumGroups } from "./internal/EffectiveGroups.ts"
import { type Decided, index, type Log, recompute, type Trace } from "./internal/Recompute.ts"

export { minimumGroups } from "./internal/EffectiveGroups.ts"

const Ids = Schema.Array(Instruction.InstructionId)
const Step = Schema.Int

/**
 * A decision in the log and under other settings; null if it is not due.
 *
 * - `prune`: the removed, worst first; `parents`: the parents, best first; `refill`: the candidates that enter; `best`: I*.
 * - `effectiveGroups`: Kish's number of groups of the least observed instruction that was compared.
 */
export const Decision = Schema.Struct({
  step: Step,
  kind: Schema.Literals(["prune", "parents", "refill", "best"]),
  logged: Schema.NullOr(Ids),
  replayed: Schema.NullOr(Ids),
  effectiveGroups: Schema.NullOr(Schema.Finite)
})
export interface Decision extends Schema.Schema.Type<typeof Decision> {}

const Pair = <S extends Schema.Top>(of: S) => Schema.Struct({ logged: of, replayed: of })

/**
 * The result of a log under other settings. `reward` estimates, by importance weights, the mean training reward of the steps
 * if instructions had been drawn with the new probabilities; null with too few effective groups, or without logged rewards of
 * an instruction.
 */
export const Answer = Schema.Struct({
  decisions: Schema.Array(Decision),
  best: Pair(Instruction.InstructionId),
  reward: Pair(Schema.NullOr(Schema.Finite))
})
export interface Answer extends Schema.Schema.Type<typeof Answer> {}

/** The log has too few groups for an answer. */
export class TooFewGroups extends Schema.TaggedError<TooFewGroups>()("TooFewGroups", {
  kind: Decision.fields.kind,
  step: Step,
  effectiveGroups: Schema.Finite,
  /** The instruction or candidate with the fewest groups, or null when the log has none to compare. */
  name: Schema.NullOr(Schema.String),
  /** The last step at which the log could draw it; null for a candidate, and for an instruction that is not in the log. */
  drawnUntil: Schema.NullOr(Step)
}) {
  override get message() {
    const groups = (Math.floor(10 * this.effectiveGroups) / 10).toFixed(1)
    const whose = this.name === null ? ", because the log has no candidates for it" : ` of ${this.name}`
    const gone =
      this.drawnUntil !== null && this.drawnUntil < this.step
        ? `, which the log has only until step ${this.drawnUntil}`
        : ""
    return (
      `replay: ${decisionNames[this.kind]} at step ${this.step} would be based on ${groups} effective groups${whose}${gone}; ` +
      `expected at least ${minimumGroups}. Try settings closer to those of the run, or log a run with a larger ` +
      "train.batchSize"
    )
  }
}

/** The events are not those of a finished run of this program. */
export class UnusableLog extends Schema.TaggedError<UnusableLog>()("UnusableLog", { reason: Schema.String }) {
  override get message() {
    return `replay: ${this.reason}`
  }
}

/** Whether a log can answer for a setting, by its dotted name. */
export const isAnswerable = (name: string): boolean =>
  name === "population.parents" || name === "schedule.pruneEvery" || answerable.has(name)

const answerable: ReadonlySet<string> = new Set(
  (["average", "window", "ties", "temperature", "removal", "risk", "ranking"] as const).map((key) => `selection.${key}`)
)

/** A checked log: its own settings reproduce it. */
export interface Opened {
  readonly log: Log
  readonly original: Trace
}

/** Reads the events of a finished run under its own settings. Fails if it is unfinished or cannot be reproduced with these strategies. */
export const open = (
  deciding: Strategies.Deciding,
  events: ReadonlyArray<RunEvent>
): Result.Result<Opened, UnusableLog> => {
  const started = events.find((event) => event._tag === "RunStarted")
  const initial = events.find((event) => event._tag === "PopulationInitialised")
  const finished = events.find((event) => event._tag === "RunFinished")
  if (started === undefined || initial === undefined || finished === undefined)
    return Result.fail(new UnusableLog({ reason: "the run is not finished; continue it with `inspo resume` first" }))
  const other = Strategies.difference(started.strategies, Strategies.identities(deciding.strategies))
  if (other !== null)
    return Result.fail(new UnusableLog({ reason: `${other}; use a program that provides the original one` }))
  const log = index(deciding.algorithm, initial, events)
  const original = recompute(log, deciding)
  const differs = firstDifference(original, events)
  return differs === null
    ? Result.succeed({ log, original })
    : Result.fail(
        new UnusableLog({
          reason:
            `under its own settings the log gives another result for ${differs}; use the version of the program that ` +
            "wrote it"
        })
      )
}

/**
 * Refolds the logged rewards under another algorithm and its strategies, which may differ in the settings that
 * {@link isAnswerable} allows. Policy, rollouts and proposed candidates stay those of the log, for any parents, and skipped
 * evolutions stay skipped. An instruction that the log pruned has no further rewards. Decisions are those of `next` and
 * `apply`. A decision that the log made on the same groups is kept; any other must be based on {@link minimumGroups} effective
 * groups.
 *
 * The step means of Eq. 6 do not depend on how often an instruction was drawn: all its groups of a step share the ratio
 * of new to logged probability. The ratio counts in the effective number of groups and in `reward`.
 *
 * @example
 * ```ts
 * import { WhatIf } from "@inspo/analysis"
 * import { type Algorithm, type RunEvent, Strategies } from "@inspo/coevolution"
 * import { Result } from "effect"
 *
 * declare const algorithm: Algorithm
 * declare const events: ReadonlyArray<RunEvent>
 *
 * const slower = { ...algorithm, schedule: { ...algorithm.schedule, pruneEvery: 10 } }
 * WhatIf.open(Strategies.deciding(algorithm), events).pipe(
 *   Result.flatMap((opened) => WhatIf.ask(opened, Strategies.deciding(slower)))
 * )
 * ```
 */
export const ask = ({ log, original }: Opened, deciding: Strategies.Deciding): Result.Result<Answer, TooFewGroups> => {
  const trace = recompute(log, deciding)
  const logged = new Map(original.decisions.map((decided) => [keyOf(decided), decided]))
  for (const decided of trace.decisions) {
    const least = leastObserved(decided)
    if (decided.selective && least.groups < minimumGroups && !Equal.equals(decided, logged.get(keyOf(decided))))
      return Result.fail(
        new TooFewGroups({
          kind: decided.kind,
          step: decided.step,
          effectiveGroups: least.groups,
          name: least.name,
          drawnUntil: drawnUntil(log, least.name)
        })
      )
  }
  const due = new Map(trace.decisions.map((decided) => [keyOf(decided), decided]))
  return Result.succeed({
    decisions: Arr.dedupe([...logged.keys(), ...due.keys()])
      .flatMap((key) => decision(logged.get(key), due.get(key)))
      .toSorted((a, b) => a.step - b.step || kinds.indexOf(a.kind) - kinds.indexOf(b.kind)),
    best: { logged: original.best, replayed: trace.best },
    reward: { logged: original.reward, replayed: trace.reward }
  })
}

/** In their order within a step. */
const kinds = Decision.fields.kind.literals

const decisionNames: Readonly<Record<Decision["kind"], string>> = {
  prune: "the prune",
  parents: "the choice of parents",
  refill: "the choice of candidates",
  best: "the choice of the best instruction"
}

const drawnUntil = ({ plans }: Log, name: string | null): number | null =>
  Arr.findLast([...plans.values()], ({ probabilities }) => name !== null && name in probabilities).pipe(
    Option.match({ onNone: () => null, onSome: ({ step }) => step })
  )

const keyOf = ({ kind, step }: Pick<Decided, "kind" | "step">): string => `${step} ${kind}`

const leastObserved = ({ evidence }: Decided): { readonly name: string | null; readonly groups: number } =>
  evidence.reduce<{ readonly name: string | null; readonly groups: number }>(
    (least, one) => (least.name === null || one.groups < least.groups ? one : least),
    { name: null, groups: 0 }
  )

const decision = (logged: Decided | undefined, due: Decided | undefined): ReadonlyArray<Decision> => {
  const either = due ?? logged
  return either === undefined
    ? []
    : [
        {
          step: either.step,
          kind: either.kind,
          logged: logged?.ids ?? null,
          replayed: due?.ids ?? null,
          effectiveGroups: due === undefined ? null : leastObserved(due).groups
        }
      ]
}

/** The parents of the evolution that ended after this step; it began there, or some steps before. */
const lastParents = ({ decisions }: Trace, step: number): Decided["ids"] =>
  decisions.findLast((decided) => decided.kind === "parents" && decided.step <= step)?.ids ?? []

/** The first decision of the log that the trace does not have, as text, or null. */
const firstDifference = (trace: Trace, events: ReadonlyArray<RunEvent>): string | null => {
  const traced = new Map(trace.decisions.map((decided) => [keyOf(decided), decided.ids]))
  const isTraced = (step: number, kind: Decided["kind"], ids: Decided["ids"]) =>
    Equal.equals(traced.get(keyOf({ step, kind })), ids)
  for (const event of events)
    switch (event._tag) {
      case "StepPlanned":
        if (!Equal.equals(trace.probabilities.get(event.step), event.probabilities))
          return `the probabilities of step ${event.step}`
        break
      case "Pruned": {
        const pruned = event.pruned.map(({ id }) => id)
        if (!isTraced(event.step, "prune", pruned)) return `the prune at step ${event.step}`
        break
      }
      case "PopulationRefilled": {
        const accepted = event.accepted.map(({ instruction }) => instruction.id)
        if (!Equal.equals(lastParents(trace, event.step), event.parents) || !isTraced(event.step, "refill", accepted))
          return `the evolution at step ${event.step}`
        break
      }
      case "RunFinished":
        if (!trace.decisions.some(({ ids, kind }) => kind === "best" && Equal.equals(ids, [event.best])))
          return "the best instruction"
    }
  return null
}
