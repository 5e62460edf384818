import { type Algorithm, Presets, run, type RunEvent, Strategies } from "@inspo/coevolution"
import { WorldQuestion } from "@inspo/datasets"
import { layer as layerEngine } from "@inspo/engine-local"
import { layer as layerJournal } from "@inspo/journal/sqlite"
import { layerRuleBased } from "@inspo/reflection"
import { layerNothing } from "@inspo/retrieval"
import { layer as layerReward } from "@inspo/reward"
import { layer as layerRollout } from "@inspo/rollout"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { directory } from "./Directory.ts"
import { thrifty } from "./ThriftyReward.ts"

/** A small co-evolution: 4 steps, two prunes, two evolutions, a few seconds. */
export const algorithm: Algorithm = Presets.tiny

/** `onEvent` gets each event once it is on disk. */
export interface Options {
  /** An existing folder for the journal and the checkpoints. */
  readonly folder: string
  readonly onEvent: (event: RunEvent) => Effect.Effect<void>
}

/** Runs Algorithm 1 on the embedded engine with a custom tool and reward, from the last event of the journal. */
export const customRun = Effect.fn("CustomRun.customRun")(function* ({ folder, onEvent }: Options) {
  const { passages, questions } = yield* WorldQuestion.generate({ ...algorithm.data.world, seed: algorithm.randomSeed })

  const rollout = layerRollout(
    { ...algorithm.rollout, topK: algorithm.retrieval.topK },
    { tools: [directory(passages)] }
  )
  // Rollouts require a search engine; the directory answers instead.
  const environment = Layer.mergeAll(layerReward(thrifty), layerNothing)
  const engine = layerEngine({ checkpoints: join(folder, "checkpoints") })
  const journal = layerJournal({ file: join(folder, "journal.sqlite"), mode: "create" })
  const services = rollout.pipe(
    Layer.provide(environment),
    Layer.provideMerge(engine),
    Layer.merge(Layer.mergeAll(journal, layerRuleBased, Strategies.layer(algorithm)))
  )

  return yield* run({
    algorithm,
    data: { ...questions, fingerprint: `world ${algorithm.randomSeed}`, search: "passages" },
    code: "custom-tool-and-reward",
    onEvent
  }).pipe(Effect.provide(services))
})
