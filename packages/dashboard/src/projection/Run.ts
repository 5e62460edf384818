import { measure } from "@inspo/reward"
import { Array as Arr } from "effect"
import { mean } from "../Means.ts"
import type { RunPlace, Written } from "../RunCatalog.ts"
import type { RunRecord } from "../RunRecord.ts"
import { quietAfter, type RunStatus, type RunView } from "../view/RunView.ts"
import { share } from "./Scores.ts"

/** Points of the small curve. */
const coursePoints = 60

/** The fields of a place that the page gets. */
type Named = Pick<RunPlace, "id" | "name">

/** A run of which only the name is known. */
export const unread = ({ id, name }: Named, problem: string | null): RunView => ({
  id,
  name,
  status: problem === null ? "loading" : "unreadable",
  problem,
  sequence: 0,
  seed: null,
  step: 0,
  steps: null,
  alive: 0,
  born: 0,
  degraded: false,
  reward: null,
  course: [],
  measure: null,
  tested: null,
  rollouts: 0,
  tokens: 0,
  lastWritten: null,
  version: null
})

/** When a run was written, for a report: it has no times, so that equal runs have equal reports. */
export const unwritten: Written = { version: null, at: null, alive: null }

/** The state of a run at the time `now`, in milliseconds since 1970. */
export const run = ({ id, name }: Named, record: RunRecord, written: Written, now: number): RunView => {
  const { config, state } = record
  const { rollouts, tokens } = state.spent
  return {
    id,
    name,
    status: status(record, written, now),
    problem: null,
    sequence: record.sequence,
    seed: config.randomSeed,
    step: state.step,
    steps: config.schedule.steps,
    alive: state.population.members.length,
    born: state.instructions.length,
    degraded: state.degraded.length > 0,
    reward: state.rewardTrend.latest.at(-1)?.mean ?? null,
    course: thinned(record.rows.flatMap((row) => row["reward/mean"] ?? [])),
    measure: measure(config.reward),
    tested: result(record),
    rollouts: rollouts.train + rollouts.verification + rollouts.evaluation,
    tokens: tokens.train + tokens.verification + tokens.evaluation,
    lastWritten: written.at,
    version: written.version
  }
}

const status = ({ rows, state }: RunRecord, { alive }: Written, now: number): RunStatus => {
  if (state.phase._tag === "Finished") return "finished"
  if (alive === null || now - alive > quietAfter) return "quiet"
  return rows.length === 0 ? "waiting" : "running"
}

const result = ({ state }: RunRecord): number | null => {
  const { phase } = state
  if (phase._tag !== "Finished") return null
  const found = state.evaluations.find(({ instruction, policy }) => policy === "after" && instruction === phase.best)
  return found === undefined || found.groups.length === 0 ? null : share(found.groups).mean
}

/** At most `coursePoints` of the values: means of equal stretches, rounded for the curve. */
const thinned = (values: ReadonlyArray<number>): ReadonlyArray<number> =>
  Arr.chunksOf(values, Math.max(1, Math.ceil(values.length / coursePoints))).map((own) =>
    Number((mean(own) ?? 0).toFixed(3))
  )
