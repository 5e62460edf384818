import { statSync } from "node:fs"
import { join } from "node:path"
import { Journal, type NewRecord } from "@inspo/journal"
import { layer } from "@inspo/journal/sqlite"
import { Array as Arr, Effect, FileSystem } from "effect"
import { trajectory } from "../../journal/Trajectory.ts"
import { Level } from "../Comparison.ts"
import { measure } from "../Workload.ts"

const part = "journal"
/** Trajectories are reserved, stored and settled in lots. */
const lot = 64
const sizes = [lot, 30 * lot] as const

/** Trajectories, small records and events in a journal of their own. */
export const figures = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const rows = Arr.makeBy(sizes[1], (index) => trajectory(1, index))
  const fileOf = (name: string, size: number) => join(directory, `${name}-${size}.sqlite`)

  const trajectories = yield* measure({
    part,
    name: "trajectories written",
    items: "trajectories",
    sizes,
    rounds: 3,
    make: (size) => Effect.succeed(inNewJournal(fileOf("trajectories", size), storeAll(rows.slice(0, size))))
  })
  const disk = Level.make({
    part,
    name: "a trajectory on disk",
    unit: "bytes",
    value: statSync(fileOf("trajectories", sizes[1])).size / sizes[1],
    better: "less",
    tolerance: 0.05
  })
  const read = yield* measure({
    part,
    name: "trajectories read",
    items: "trajectories",
    sizes,
    rounds: 3,
    make: (size) =>
      Effect.succeed(
        Effect.flatMap(Journal, (journal) => journal.listRecords("trajectory", 1)).pipe(
          Effect.provide(layer({ file: fileOf("trajectories", size), mode: "read-only" }))
        )
      )
  })
  const small = yield* measure({
    part,
    name: "small records written",
    items: "records",
    sizes: [500, 15_000],
    rounds: 3,
    make: (size) => Effect.succeed(inNewJournal(fileOf("small", size), storeAll(smallRecords(size))))
  })
  const events = yield* measure({
    part,
    name: "events written and read",
    items: "events",
    sizes: [30, 900],
    rounds: 3,
    // It waits for the disk; the calibration does not.
    tolerance: 0.6,
    make: (size) => Effect.succeed(inNewJournal(fileOf("events", size), writeEvents(size)))
  })
  return [disk, ...[trajectories, read, small, events].flatMap(({ growth, level }) => [level, growth])]
})

/** Work on a new journal. */
const inNewJournal = Effect.fnUntraced(function* <A, E>(file: string, work: Effect.Effect<A, E, Journal>) {
  const fs = yield* FileSystem.FileSystem
  for (const suffix of ["", "-wal", "-shm"]) yield* fs.remove(`${file}${suffix}`, { force: true })
  return yield* Effect.provide(work, layer({ file, mode: "create" }))
})

/** Small records, which show the cost of a row besides its bytes. */
const smallRecords = (count: number): ReadonlyArray<NewRecord> =>
  Arr.makeBy(count, (index) => ({ key: `train/1/${index}/0`, value: { reward: index % 2 } }))

const storeAll = Effect.fnUntraced(function* (rows: ReadonlyArray<NewRecord>) {
  const journal = yield* Journal
  for (const some of Arr.chunksOf(rows, lot)) {
    const amounts = { rollouts: 1, tokens: 100, calls: 0, usd: 0, seconds: 0 }
    const ids = yield* journal.reserve(some.map(({ key }) => ({ ...amounts, phase: "train", key })))
    yield* journal.putRecords("trajectory", 1, some)
    yield* journal.settle(ids.map((id) => ({ ...amounts, id })))
  }
})

/** Events of the size of a small step, each in its own commit, as in a run. */
const writeEvents = Effect.fnUntraced(function* (count: number) {
  const journal = yield* Journal
  const rewards = Arr.makeBy(160, (sample) => sample % 2)
  for (let step = 0; step < count; step++) yield* journal.append([{ type: "Event", step, payload: { step, rewards } }])
  return yield* journal.read
})
