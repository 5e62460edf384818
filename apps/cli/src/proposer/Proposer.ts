import type { RunConfig } from "@inspo/config"
import * as Reflection from "@inspo/reflection"
import { Effect, Layer } from "effect"

/** The proposer of a run: rules if its model is `offline`, else a language model, whose code is loaded only then. */
export const layerProposer = ({
  control,
  proposer,
  ...config
}: Pick<RunConfig, "budget" | "control" | "keys" | "proposer" | "requests">) => {
  const { kind, model } = proposer
  return model.name === Reflection.ProposerModel.offline || kind.name === "random"
    ? Layer.provide(
        offline[kind.name],
        Layer.succeed(Reflection.ClauseBank.Bank, control.clauses ?? Reflection.ClauseBank.clauses)
      )
    : Layer.unwrap(Effect.promise(async () => (await import("./ModelProposer.ts")).layer({ ...config, kind, model })))
}

const offline = {
  reflection: Reflection.layerRuleBased,
  random: Reflection.layerRandom,
  paraphrase: Reflection.layerParaphrase,
  history: Reflection.layerHistory,
  // A run refuses them without a model.
  evolving: Reflection.layerRuleBased,
  lessons: Reflection.layerRuleBased
}
