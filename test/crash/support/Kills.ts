import { RandomStream } from "@inspo/domain"
import type { Kill } from "./Program.ts"

/** The seed of the crash points: `INSPO_CRASH_SEED`, or another one each time. It is printed, so that they can be had again. */
export const seedOfThisRun = (): number => {
  const seed = Number(process.env["INSPO_CRASH_SEED"] ?? Date.now() % 1_000_000)
  process.stdout.write(`crash points of seed ${seed}; the same again with INSPO_CRASH_SEED=${seed}\n`)
  return seed
}

/** When a try of a run is to be killed: at any moment, but the first try of some runs at one that must not be missed. */
export const draw = (seed: number, run: number, attempt: number): Kill =>
  (attempt === 0 ? directed[run - undirected] : undefined) ?? anyKill(RandomStream.make(seed, ["kill", run, attempt]))

/** The moments a run was killed at, from how it was killed and what its journal says came next. */
export const moments = (kill: Kill | undefined, following: string): ReadonlyArray<string> => {
  const at = kill !== undefined && "at" in kill ? kill.at : ""
  const within = /^(?:commit|event):\w+$/u.test(at) ? ["mid-commit"] : []
  return [...within, midway[following] ?? following]
}

/** Moments that a hundred kills must not miss. */
export const required = ["mid-commit", "mid-checkpoint", "mid-verification", "mid-evolution"]

const midway: Readonly<Record<string, string>> = {
  Checkpoint: "mid-checkpoint",
  Verify: "mid-verification",
  Propose: "mid-evolution",
  PopulationRefilled: "mid-evolution"
}

/** A kill at each of the moments that must not be missed, whatever the draws are. */
const directed: ReadonlyArray<Kill> = [
  { at: "event:CandidatesProposed" },
  { at: "event:CandidatesVerified" },
  { at: "event:PopulationRefilled" },
  { at: "checkpoint:2" }
]

/** The first runs are killed at any moment, so that a few kills are as free as many. */
const undirected = 2

type Draw = (stream: RandomStream.RandomStream) => Kill

const anyKill: Draw = (stream) => (kinds[stream.nextIntBetween(0, kinds.length)] ?? byTime)(stream)

const pause = ({ nextIntBetween }: RandomStream.RandomStream): string => {
  const ms = nextIntBetween(0, 200)
  return ms < 60 ? "" : `+${ms - 60}`
}

/** Any moment, seen from outside. */
const byTime: Draw = ({ nextIntBetween }) => ({ after: nextIntBetween(300, 2500) })

const numbered =
  (kind: string, most: number): Draw =>
  (stream) => ({ at: `${kind}:${stream.nextIntBetween(1, most + 1)}${pause(stream)}` })

const around =
  (event: string): Draw =>
  (stream) => ({ at: `event:${event}${pause(stream)}` })

const kinds: ReadonlyArray<Draw> = [
  byTime,
  byTime,
  byTime,
  byTime,
  numbered("operation", 120),
  numbered("operation", 120),
  numbered("commit", 30),
  numbered("commit", 30),
  numbered("checkpoint", 8),
  around("TrainingPlanned"),
  around("Pruned"),
  around("CandidatesProposed"),
  around("CheckpointSaved"),
  around("CandidatesVerified"),
  around("PopulationRefilled")
]
