/** A long run of the smallest possible steps, with samples of its memory. */
import { join } from "node:path"
import { type Algorithm, type RunEvent, Strategies } from "@inspo/coevolution"
import type { Engine } from "@inspo/engine"
import { layerRuleBased } from "@inspo/reflection"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { layerExactMatch } from "@inspo/reward"
import * as Rollout from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Deferred, Effect, FileSystem, Hash, Layer, Option } from "effect"
import { type LoadedData, loadData } from "../../../apps/cli/src/config/Data.ts"
import { fromInput } from "../../../apps/cli/src/config/Input.ts"
import { execute } from "../../../apps/cli/src/run/Execute.ts"
import { tinyRun, writeTinyModel } from "../../../test/cli/TinyModel.ts"
import { collectGarbage } from "../Measure.ts"

/** The embedded engine runs a tiny model; a script in its place is faster. */
export type EngineName = "scripted" | "embedded"

/** Bytes in use after `step`: of this thread's heap once garbage is collected, and of the whole process. */
export interface Sample {
  readonly step: number
  readonly heap: number
  readonly resident: number
}

/** Ten samples of a session of `steps` steps, and one of a second session that resumes it. */
export const soak = Effect.fnUntraced(function* (steps: number, engine: EngineName) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* writeTinyModel(join(folder, "model"))
  const config = yield* fromInput({
    preset: "quick",
    file: Option.none(),
    seed: Option.none(),
    set: sets(folder, steps)
  })
  const loaded = yield* loadData(config)
  const directory = join(folder, "run")
  yield* fs.makeDirectory(directory)
  const follow = Effect.fnUntraced(function* (mode: "create" | "open", isDue: (step: number) => boolean, last: number) {
    const samples: Array<Sample> = []
    const over = yield* Deferred.make<void>()
    const onEvent = Effect.fnUntraced(function* (event: RunEvent) {
      if (event._tag !== "StepTrained" || !isDue(event.step)) return
      samples.push(yield* sample(event.step))
      if (event.step === last) yield* Deferred.succeed(over, undefined)
    })
    yield* execute({
      directory,
      mode,
      config,
      loaded,
      code: "soak",
      launchedAt: 0,
      lost: null,
      ...(engine === "scripted" ? { services: scripted(config, loaded) } : {}),
      follow: () => Effect.succeed(onEvent)
    }).pipe(Effect.raceFirst(Deferred.await(over)))
    return samples
  })
  const every = Math.ceil(steps / 10)
  const samples = yield* follow("create", (step) => step % every === 0, 10 * every)
  const [resumed] = yield* follow("open", (step) => step === 11 * every, 11 * every)
  return { samples, resumed }
}, Effect.scoped)

/** Everything in a run happens; evolution is rare, since a run remembers every instruction. */
const sets = (folder: string, steps: number): ReadonlyArray<string> => [
  ...tinyRun.filter((word) => word !== "--set"),
  `engine.model=${folder}/model`,
  "engine.concurrency=1",
  `schedule.steps=${2 * steps}`,
  `schedule.evolveUntil=${2 * steps}`,
  "schedule.pruneEvery=10",
  "schedule.evolveEvery=100",
  "checkpoint.every=10",
  "evaluation.questions=0"
]

const scripted = (config: Algorithm, { passages }: LoadedData) =>
  Layer.mergeAll(
    Strategies.layer(config),
    Rollout.layer({ ...config.rollout, topK: config.retrieval.topK }).pipe(
      Layer.provide([layerBm25(passages), layerExactMatch]),
      Layer.provideMerge(engineOf())
    ),
    layerRuleBased
  )

/** Searches once and answers, sometimes correctly. */
const engineOf = (): Layer.Layer<Engine> =>
  ScriptedEngine.layer((prompt, { seed }) =>
    prompt.includes("<information>")
      ? `<answer> ${Hash.string(seed) % 2 === 0 ? "Ostrel Bay" : "Nobody"}</answer>`
      : "<search> Ostrel Bay</search>"
  )

const sample = Effect.fnUntraced(function* (step: number) {
  // Let the last work end first.
  for (let times = 0; times < 3; times++) {
    yield* Effect.sleep("20 millis")
    collectGarbage()
  }
  const { heapUsed, rss } = process.memoryUsage()
  return { step, heap: heapUsed, resident: rss } satisfies Sample
})
