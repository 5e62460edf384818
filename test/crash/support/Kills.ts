import { RandomStream } from "@inspo/domain"
import { Effect, Random } from "effect"
import type { Kill } from "./Program.ts"

/** The seed of the crash points: `INSPO_CRASH_SEED`, or another one each time. It is printed, so that they can be had again. */
export const seedOfThisRun = (): number => {
  const seed = Number(process.env["INSPO_CRASH_SEED"] ?? Date.now() % 1_000_000)
  process.stdout.write(`crash points of seed ${seed}; the same again with INSPO_CRASH_SEED=${seed}\n`)
  return seed
}

/** When the `attempt`-th try of the `chain`-th run is to be killed. */
export const draw = (seed: number, chain: number, attempt: number): Kill =>
  RandomStream.drawSync(
    seed,
    ["kill", chain, attempt],
    Effect.gen(function* () {
      const kind = yield* Random.nextIntBetween(0, kinds.length)
      return yield* kinds[kind] ?? byTime
    })
  )

/** The moment a run was killed at, from how it was killed and what its journal says came next. */
export const moment = (kill: Kill | undefined, following: string): string => {
  const at = kill !== undefined && "at" in kill ? kill.at : ""
  if (/^(?:commit|event):\w+$/u.test(at)) return "mid-commit"
  if (following === "Checkpoint") return "mid-checkpoint"
  if (following === "Verify") return "mid-verification"
  if (following === "Propose" || following === "PopulationRefilled") return "mid-evolution"
  return following
}

/** Moments that a hundred kills must not miss. */
export const required = ["mid-commit", "mid-checkpoint", "mid-verification", "mid-evolution"]

const pause = Effect.map(Random.nextIntBetween(0, 200), (ms) => (ms < 60 ? "" : `+${ms - 60}`))

/** Any moment, seen from outside. */
const byTime = Effect.map(Random.nextIntBetween(300, 2500), (after): Kill => ({ after }))

const numbered = (kind: string, most: number) =>
  Effect.map(Effect.all([Random.nextIntBetween(1, most + 1), pause]), ([number, wait]): Kill => ({
    at: `${kind}:${number}${wait}`
  }))

const around = (event: string) => Effect.map(pause, (wait): Kill => ({ at: `event:${event}${wait}` }))

const kinds = [
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
