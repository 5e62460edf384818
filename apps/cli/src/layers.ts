import type { RunConfig } from "@inspo/coevolution"
import type { Question } from "@inspo/domain"
import * as LocalEngine from "@inspo/engine-local/LocalEngine"
import * as Proposer from "@inspo/reflection"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { layerExactMatch } from "@inspo/reward"
import * as Rollout from "@inspo/rollout"
import { Layer } from "effect"

/** The services of a run on the embedded engine; a new engine at the weights it ships with for every layer built. */
export const layerServices = (config: RunConfig, passages: ReadonlyArray<Question.Passage>, checkpoints: string) =>
  Rollout.layer({ ...config.rollout, topK: config.retrieval.topK }).pipe(
    Layer.provide(layerBm25(passages)),
    Layer.provide(layerExactMatch),
    Layer.provideMerge(layerEngine(config, checkpoints)),
    Layer.merge(config.proposer.kind === "random" ? Proposer.layerRandom : Proposer.layerRuleBased)
  )

/** The embedded engine alone. */
export const layerEngine = ({ engine }: RunConfig, checkpoints: string) =>
  LocalEngine.layer({
    checkpoints,
    ...(engine.model === null ? {} : { model: engine.model }),
    ...(engine.workers === null ? {} : { workers: engine.workers })
  })
