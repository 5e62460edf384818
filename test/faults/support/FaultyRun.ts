import { JudgePrompt } from "@inspo/reward"
import * as JudgeReward from "@inspo/reward/JudgeReward"
import { Proposer } from "@inspo/reflection"
import { Metering, ModelProposer, Provider, openAiCompatible } from "@inspo/reflection/models"
import { type Algorithm, run, type RunError, type RunState, Strategies } from "@inspo/coevolution"
import { Ledger } from "@inspo/ledger"
import { algorithmOf, JudgeCost, type RunConfig } from "@inspo/config"
import { Engine, type EngineError } from "@inspo/engine"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Journal } from "@inspo/journal"
import { Search } from "@inspo/retrieval"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { Context, Effect, type Exit, Layer, Random } from "effect"
import { LanguageModel } from "effect/ai"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { layerRollouts, prepare } from "../../../packages/coevolution/test/support/ScriptedRun.ts"
import * as FaultyServer from "../../../packages/engine-tinker/test/faults/FaultyServer.ts"
import * as CountedEngine from "./CountedEngine.ts"
import * as CountedModel from "./CountedModel.ts"
import * as Writers from "./Writers.ts"

export interface Kind {
  readonly profile: "inspo" | "tinker" | "verl"
  readonly encoding: "json" | "protobuf"
}

/** The world of a run with its index, which many runs can share. */
export const makeWorld = Effect.fnUntraced(function* (config: Algorithm) {
  const { data, engine, passages } = yield* prepare(config)
  return { data, engine, search: Context.get(yield* Layer.build(layerBm25(passages)), Search) }
})
export type World = Effect.Success<ReturnType<typeof makeWorld>>

/** Rollouts in flight at once. */
export const concurrency = 3

export const price = { model: "counted", input: 1000, output: 4000 }

export const { maxOutputTokens } = JudgePrompt

/** Repetitions of a request to a language model. */
export const retries = 2

/** One session of a run, from its start or resume to its end, and what the servers counted in it. */
export interface Session {
  readonly exit: Exit.Exit<RunState.RunState, RunError | EngineError>
  readonly served: CountedEngine.Served
  readonly ledger: Ledger.Summary
}

/**
 * A run over a server of the Tinker protocol and two of chat completions, which count what they generate, behind networks
 * and machines that fail at random. `next` goes on with it for one session, which may be killed.
 */
export const make = Effect.fnUntraced(function* (
  kind: Kind,
  world: World,
  options: { readonly seed: string; readonly rate: number }
) {
  const { rate, seed } = options
  const journal = yield* Journal
  const random = yield* Random.withSeed(Random.Random, `${seed}/kill`)
  const counted = CountedEngine.make(world.engine)
  const { profile } = kind
  const server = yield* FaultyServer.make({ engine: counted.engine, rate, seed, forgetful: profile === "verl" })
  const writer = yield* CountedModel.make({ rate: 3 * rate, seed, seconds: 3, write: Writers.proposer })
  const judge = yield* CountedModel.make({ rate, seed: `${seed}/judge`, seconds: 1, write: Writers.judge })

  const engine = TinkerEngine.layer({
    ...kind,
    url: "http://inspo.test",
    tokenizer: world.engine.tokenizer,
    contextLength: world.engine.profile.contextLength,
    concurrency
  }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient)(server.client)))

  const modelOf = ({ client }: CountedModel.CountedModel) =>
    Provider.make(openAiCompatible, {
      model: price.model,
      url: "http://models.test",
      apiKey: null,
      maxOutputTokens,
      temperature: null,
      timeout: "1 minute",
      retries
    }).pipe(Effect.provideService(HttpClient.HttpClient, client), Effect.orDie)

  const reward = JudgeReward.layer({ scope: "response", meter: Metering.measure({ price, maxOutputTokens }) }).pipe(
    Layer.provide(Layer.effect(LanguageModel.LanguageModel, modelOf(judge)))
  )

  const session = (config: RunConfig) =>
    Effect.gen(function* () {
      const connected = yield* Effect.provide(Engine, yield* Layer.build(engine))
      const proposer = ModelProposer.make(yield* modelOf(writer), {
        kind: "reflection",
        price,
        maxOutputTokens,
        requests: 1 + retries,
        maxEvidenceTokens: 2000
      })
      const services = Layer.mergeAll(
        Strategies.layer(config),
        layerRollouts(config, connected, Layer.succeed(Search, world.search), reward),
        Layer.succeed(Proposer, proposer),
        Layer.succeed(Journal, journal)
      )
      return yield* run({
        algorithm: algorithmOf(config),
        data: world.data,
        budget: config.budget,
        scoringAtMost: (question) => JudgeCost.atMost(config, question),
        code: "test",
        onEvent: () => Effect.void
      }).pipe(Effect.provide(services))
    }).pipe(Effect.scoped)

  const next = Effect.fnUntraced(function* (config: RunConfig) {
    const mortal = rate > 0 && random.nextDoubleUnsafe() < 0.5
    const exit = yield* play(session(config), mortal ? Math.floor(random.nextDoubleUnsafe() * 300) : Infinity)
    // What the server was at ends before the next session is counted.
    for (let ticks = 0; ticks < 8; ticks++) yield* tick
    return { exit, served: yield* counted.take, ledger: Ledger.summarize(yield* journal.ledger) } satisfies Session
  })

  return { next, asked: { proposer: writer.asked, judge: judge.asked }, faults: server.faults }
})

/** Lets time pass while an effect runs, and interrupts it after so many ticks. */
const play = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>, ticks: number) {
  const fiber = yield* Effect.forkChild(effect)
  for (let passed = 0; ; passed++) {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return exit
    if (passed === ticks) fiber.interruptUnsafe()
    yield* tick
  }
})

/** What is not a matter of time needs its turn, too. */
const tick = Effect.andThen(
  TestClock.adjust("500 millis"),
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
)
