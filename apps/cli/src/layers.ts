import type { ModelNotes as TinkerNotes } from "@inspo/engine-tinker"
import { type ConfigError, Strategies, judgedMethods, scopeOf } from "@inspo/coevolution"
import {
  type Reward,
  type RewardKind,
  type Scope,
  commandOf,
  defaultOptions,
  judgeOf,
  kindOf,
  layer as layerReward
} from "@inspo/reward"
import { Agents } from "@inspo/rollout"
import type { RunConfig } from "@inspo/config"
import type { Question } from "@inspo/domain"
import type { Engine, EngineError } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { Search, SearchError } from "@inspo/retrieval"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import * as RetrieveClient from "@inspo/retrieval/RetrieveClient"
import * as Rollout from "@inspo/rollout"
import { Effect, type FileSystem, Layer, Path } from "effect"
import { FetchHttpClient } from "effect/http"
import type { ChildProcessSpawner } from "effect/process"
import * as Secret from "./config/Secret.ts"
import * as ModelNotes from "./engine/ModelNotes.ts"
import type { RemoteConfig } from "./engine/Remote.ts"
import { layerProposer } from "./proposer/Proposer.ts"

/** The services of a run, with a new engine at its initial weights for every layer. The journal records the models that it holds. */
export const layerServices = (config: RunConfig, passages: ReadonlyArray<Question.Passage>, checkpoints: string) =>
  Layer.unwrap(
    Effect.map(Journal, (journal) =>
      Layer.mergeAll(
        Strategies.layer(config),
        layerRollout(config, passages, checkpoints, ModelNotes.ofJournal(journal)),
        layerProposer(config),
        layerJudges(config)
      )
    )
  )

/** The agent of a run; an agent of your own goes here. */
export const agentOf = ({ rollout }: Pick<RunConfig, "rollout">): Rollout.Agent => Agents.fromConfig(rollout)

/** What answering questions needs: the policy and its tools, search and reward. */
export const layerRollout = (
  config: RunConfig,
  passages: ReadonlyArray<Question.Passage>,
  checkpoints: string,
  notes?: TinkerNotes.ModelNotes
) => {
  const { policy, requests, retrieval, rollout } = config
  const played = {
    ...rollout,
    topK: retrieval.topK,
    toolTimeoutSeconds: Math.max(Rollout.defaultConfig.toolTimeoutSeconds, requests.timeoutSeconds ?? 0)
  }
  const rollouts = Layer.unwrap(
    Effect.gen(function* () {
      const agent = agentOf(config)
      const options = { tools: yield* tools(config), agent }
      if (agent.outside !== undefined) {
        const { layerRollout } = yield* Effect.promise(() => import("./policy/Outside.ts"))
        const log = (yield* Path.Path).join(checkpoints, "..", "agent.log")
        const outside: Answering = layerRollout({
          agent,
          outside: agent.outside,
          limits: { ...Rollout.defaultConfig, ...played },
          engine: config.engine,
          log
        }).pipe(Layer.provideMerge(layerEngine(config, checkpoints, notes)))
        return outside
      }
      const chat = policy.model === null ? null : yield* Effect.promise(() => import("./policy/Chat.ts"))
      const answering: Answering =
        chat === null
          ? Layer.provideMerge(Rollout.layer(played, options), layerEngine(config, checkpoints, notes))
          : chat.layerRollout(config, played, options)
      return answering
    })
  )
  return rollouts.pipe(Layer.provide(search(config, passages)), Layer.provide(reward(config)))
}

/** A policy that acts, given what it searches and how it is rewarded. */
type Answering = Layer.Layer<
  Engine | Rollout.Rollout,
  ConfigError | EngineError,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path | Reward | Search
>

const reward = (config: RunConfig) => {
  const kind = kindOf(config.reward)
  const scope = scopeOf(config, agentOf(config))
  switch (kind.needs) {
    case "attempt":
      return layerReward(kind.make({ ...defaultOptions, scope }))
    case "model":
      return Layer.unwrap(Effect.promise(() => judged(config, kind, scope)))
    case "program": {
      const [program = "", ...args] = commandOf(config.reward) ?? []
      const timeout = config.requests.timeoutSeconds ?? 60
      const options = { command: [program, ...args] as const, timeout: `${timeout} seconds` as const, scope }
      return Layer.unwrap(
        Effect.promise(kind.load).pipe(
          Effect.flatMap((make) => make(options)),
          Effect.map(layerReward)
        )
      )
    }
  }
}

const judged = async (config: RunConfig, kind: Extract<RewardKind, { readonly needs: "model" }>, scope: Scope) => {
  const { criteria = null, model = null } = judgeOf(config.reward) ?? {}
  const [make, { judging }] = await Promise.all([kind.load(), import("./proposer/Judging.ts")])
  const { layer, meter } = judging(config, model)
  return Layer.unwrap(Effect.map(make({ scope, meter, ...(criteria === null ? {} : { criteria }) }), layerReward)).pipe(
    Layer.provide(layer)
  )
}

/** The language models that judge groups and turns; their code is loaded only for runs that have such a judge. */
const layerJudges = (config: RunConfig) =>
  judgedMethods(config).length === 0
    ? Layer.empty
    : Layer.unwrap(Effect.promise(() => import("./proposer/Judging.ts").then(({ layerOf }) => layerOf(config))))

/** The tools of the servers that a config names; connections, and programs that were started, end with the layer. */
const tools = (config: RunConfig) =>
  config.rollout.mcp.length === 0
    ? Effect.succeed([])
    : Effect.flatMap(
        Effect.promise(() => import("./McpTools.ts")),
        ({ named }) => named(config, config.requests.timeoutSeconds ?? 60)
      )

const nothing = (agent: string) =>
  `the agent ${agent} searches, and there are no passages: data.corpus is null or empty, expected a corpus, or a server in retrieval.url`

const search = (config: RunConfig, passages: ReadonlyArray<Question.Passage>) => {
  const { keys, requests, retrieval, rollout } = config
  const { url } = retrieval
  if (url === null && passages.length === 0 && Agents.searches(agentOf(config), rollout))
    return Layer.effect(
      Search,
      Effect.fail(new SearchError({ operation: "open", reason: nothing(rollout.agent.name) }))
    )
  if (url === null) return layerBm25(passages)
  const authorisation =
    keys.retrieval === null
      ? Effect.succeed({})
      : Effect.map(
          Secret.fromEnvironment(
            keys.retrieval,
            "keys.retrieval",
            "the retriever's key",
            (reason) => new SearchError({ operation: "open", reason })
          ),
          (apiKey) => ({ apiKey })
        )
  return Layer.unwrap(
    Effect.map(authorisation, (key) => RetrieveClient.layer({ ...key, ...retries(requests), url }))
  ).pipe(Layer.provide(FetchHttpClient.layer))
}

const retries = ({ retries, timeoutSeconds }: RunConfig["requests"]) => ({
  retries,
  ...(timeoutSeconds === null ? {} : { timeout: `${timeoutSeconds} seconds` as const })
})

/** The engine alone: the embedded one, or that of a server. Only the one that is needed is loaded. */
export const layerEngine = ({ engine, keys }: RunConfig, checkpoints: string, notes?: TinkerNotes.ModelNotes) =>
  Layer.unwrap(
    Effect.promise(() =>
      engine.url === null
        ? embedded(engine, checkpoints)
        : remote({ ...engine, url: engine.url, key: keys.engine }, notes)
    )
  )

const embedded = async ({ concurrency, model }: RunConfig["engine"], checkpoints: string) => {
  const { layer } = await import("@inspo/engine-local")
  return layer({
    checkpoints,
    ...(model === null ? {} : { model }),
    ...(concurrency === null ? {} : { workers: concurrency })
  })
}

const remote = async (engine: RemoteConfig, notes: TinkerNotes.ModelNotes | undefined) => {
  const { layer, settings } = await import("./engine/Remote.ts")
  return layer(engine, { names: settings, notes })
}
