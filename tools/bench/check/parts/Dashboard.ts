import { join } from "node:path"
import { cost, lineage, overview, population, Runs, Trajectories } from "@inspo/dashboard"
import { Context, Effect, FileSystem, Layer } from "effect"
import * as Catalog from "../../../../apps/cli/src/dashboard/Catalog.ts"
import { syntheticRun } from "../../../../test/browser/support/SyntheticRun.ts"
import { measure } from "../Workload.ts"

const part = "dashboard"
/** Steps of 34 questions × 5 rollouts: 51,000 trajectories in the longer run. */
const sizes = [10, 300] as const
const shape = { questionsPerStep: 34, groupSize: 5, tokens: 1 }

/** The dashboard server with a run of 51,000 trajectories: reading it, and computing every view. */
export const figures = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const directoryOf = (steps: number) => join(directory, String(steps))
  for (const steps of sizes)
    yield* Effect.promise(async () => {
      const run = await syntheticRun(join(directoryOf(steps), "run"), { ...shape, steps })
      await run.write(run.events)
      await run.close()
    })

  const first = yield* measure({
    part,
    name: "a run read for the first time",
    items: "steps",
    sizes,
    bound: 0.5,
    make: (steps) => Effect.succeed(Effect.scoped(Layer.build(reader(directoryOf(steps)))))
  })
  const views = yield* measure({
    part,
    name: "all views of a run",
    items: "steps",
    sizes,
    bound: 1,
    make: (steps) =>
      Effect.map(Layer.build(reader(directoryOf(steps))), (context) => draw(Context.get(context, Runs.Runs)))
  })
  return [first, views].flatMap(({ growth, level }) => [level, growth])
})

/** The runs of a directory, followed as in the server, without polling. */
const reader = (directory: string) =>
  Runs.layer({ poll: "1 hour", search: "1 hour" }).pipe(Layer.provide(Catalog.layer([directory])))

const draw = Effect.fnUntraced(function* (runs: Runs.Runs["Service"]) {
  const run = yield* runs.read("run")
  const { record, source, view } = run
  const notes = yield* source.notes
  const journal = yield* runs.journal(run)
  const listed = Trajectories.index(record.batches)
  return [
    overview(view, record, notes),
    population(record),
    lineage(record),
    cost(record, yield* journal.ledger, notes),
    Trajectories.select(listed, { outcome: "wrong", order: "longest" }, { diagnoses: new Map(), text: () => undefined })
  ]
}, Effect.scoped)
