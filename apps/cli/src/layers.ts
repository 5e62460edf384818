import type { RunConfig } from "@inspo/coevolution"
import type { Question } from "@inspo/domain"
import * as LocalEngine from "@inspo/engine-local/LocalEngine"
import * as Proposer from "@inspo/reflection"
import { SearchError } from "@inspo/retrieval"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import * as RetrieveClient from "@inspo/retrieval/RetrieveClient"
import { layer as layerReward, Rewards } from "@inspo/reward"
import * as CommandReward from "@inspo/reward/CommandReward"
import * as Rollout from "@inspo/rollout"
import { Config, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as RemoteEngine from "./engine/Remote.ts"

/** The services of a run on the embedded engine; a new engine at the weights it ships with for every layer built. */
export const layerServices = (config: RunConfig, passages: ReadonlyArray<Question.Passage>, checkpoints: string) =>
  Rollout.layer({ ...config.rollout, topK: config.retrieval.topK }).pipe(
    Layer.provide(search(config, passages)),
    Layer.provide(reward(config)),
    Layer.provideMerge(layerEngine(config, checkpoints)),
    Layer.merge(proposers[config.proposer.kind])
  )

const proposers = {
  rules: Proposer.layerRuleBased,
  random: Proposer.layerRandom,
  paraphrase: Proposer.layerParaphrase,
  history: Proposer.layerHistory
}

const reward = ({ reward }: RunConfig) => {
  const { command, commandTimeout, kind, scope } = reward
  if (kind !== "command") return layerReward(Rewards.builtIn[kind](reward))
  const [program = "", ...args] = command
  return CommandReward.layer({ command: [program, ...args], timeout: `${commandTimeout} seconds`, scope })
}

const search = ({ retrieval }: RunConfig, passages: ReadonlyArray<Question.Passage>) => {
  const { apiKeyEnv, timeoutSeconds, url, ...options } = retrieval
  if (url === null) return layerBm25(passages)
  const authorisation = apiKeyEnv === null ? Effect.succeed({}) : key(apiKeyEnv)
  return Layer.unwrap(
    Effect.map(authorisation, (key) =>
      RetrieveClient.layer({ ...options, ...key, url, timeout: `${timeoutSeconds} seconds` })
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))
}

const key = (variable: string) =>
  Effect.mapBoth(Config.Redacted(variable), {
    onSuccess: (apiKey) => ({ apiKey }),
    onFailure: () =>
      new SearchError({
        operation: "open",
        reason: `retrieval.apiKeyEnv is ${variable}, which the environment does not hold; set it to the retriever's key`
      })
  })

/** The engine alone: the embedded one, or that of a server. */
export const layerEngine = ({ engine }: RunConfig, checkpoints: string) =>
  engine.url === null
    ? LocalEngine.layer({
        checkpoints,
        ...(engine.model === null ? {} : { model: engine.model }),
        ...(engine.workers === null ? {} : { workers: engine.workers })
      })
    : RemoteEngine.layer({ ...engine, url: engine.url })
