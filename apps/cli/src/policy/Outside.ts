/** Rollouts of an agent outside of inspo, which asks the engine of a run as its model server. */
import { ConfigError } from "@inspo/coevolution"
import { RunConfig } from "@inspo/config"
import type { Engine } from "@inspo/engine"
import { type Gateway, GatewayRollout, layer as layerGateway, routes, Workers } from "@inspo/gateway"
import { OutsideAgent } from "@inspo/outside"
import type { Agent, EpisodeConfig } from "@inspo/rollout"
import { Effect, Layer, Option, Schema } from "effect"
import * as Secret from "../config/Secret.ts"
import { connect, forms } from "../evolve/Outside.ts"
import type { UsageError } from "../Failure.ts"
import { type Address, listen, loopback } from "../server/Listen.ts"

export interface Options {
  readonly agent: Agent
  readonly outside: NonNullable<Agent["outside"]>
  readonly limits: EpisodeConfig
  readonly engine: RunConfig["engine"]
  /** The file for what a program prints besides answers. */
  readonly log: string
}

/** The gateway listens as long as the layer lives: on a free port of this machine, or for workers where they reach it. */
export const layerRollout = (options: Options) => {
  const {
    agent,
    engine,
    limits: { maxPromptTokens, maxResponseTokens, maxTurns, temperature, tools, topP },
    outside: { program, timeout }
  } = options
  const limits = { maxCalls: maxTurns + 1, maxPromptTokens, maxResponseTokens, temperature, topP, tools }
  return Layer.unwrap(
    Effect.gen(function* () {
      const place = placeOf(program)
      const setting = { engine, limits, timeout } satisfies Setting
      const workers = place === null ? null : yield* Workers.make({ name: program, timeout: timeout * 1000, setting })
      const player = workers?.player ?? (yield* connected(options))
      const services = yield* Effect.context<Gateway | Engine>()
      const served = Layer.merge(routes, workers?.routes ?? Layer.empty).pipe(
        Layer.provide(Layer.succeedContext(services))
      )
      const key = place === null ? Option.none() : yield* keyOf(program, place)
      const apiKeyEnv = Option.as(key, gatewayKey)
      const address = { ...(place ?? local), apiKeyEnv }
      const url = yield* listen("gateway", address, served, { ...guarded, keys: Option.toArray(key) }).pipe(
        Effect.mapError(({ problem }) => refused(program, problem))
      )
      return GatewayRollout.layer({ agent, player, url })
    })
  ).pipe(Layer.provide(layerGateway(limits)))
}

/** What a gateway beside that of the run has to know; `timeout` is in seconds. */
export const Setting = Schema.Struct({
  engine: RunConfig.fields.engine,
  limits: Schema.Struct({
    maxCalls: Schema.Int,
    maxPromptTokens: Schema.Int,
    maxResponseTokens: Schema.Int,
    temperature: Schema.Finite,
    topP: Schema.Finite,
    tools: Schema.Array(Schema.String)
  }),
  timeout: Schema.Finite
})
interface Setting extends Schema.Schema.Type<typeof Setting> {}

/** The variable with the key of gateways. */
export const gatewayKey = "INSPO_GATEWAY_KEY"

/** A program, an address or a function. */
const connected = Effect.fnUntraced(function* ({ log, outside: { program, timeout, workers } }: Options) {
  const named = yield* Effect.mapError(Effect.fromOption(OutsideAgent.parse(program)), () => refused(program))
  return yield* connect(named, { workers, timeout, log, retries: 0 }).pipe(
    Effect.mapError((error: UsageError) => refused(program, error.problem))
  )
})

/** Where workers get their episodes, such as `:8200` or `0.0.0.0:8200`. */
const placeOf = (program: string): Address | null => {
  const [, host = "", port] = /^([\w.-]*):(\d+)$/u.exec(program) ?? []
  return port === undefined ? null : { ...local, host: host === "" ? local.host : host, port: Number(port) }
}

/** The key that workers must send, where it is set. Without one, this machine alone is served. */
const keyOf = Effect.fnUntraced(function* (program: string, { host }: Address) {
  const key = yield* Effect.option(Secret.fromEnvironment(gatewayKey, "", "", () => null))
  if (Option.isNone(key) && !loopback.has(host))
    return yield* new ConfigError({
      field: "rollout.agent.program",
      value: program,
      expected: `a key in ${gatewayKey}, since other machines can reach this address`,
      remedy: `Set ${gatewayKey} to a key that workers send, or serve this machine alone, as :8200 does.`
    })
  return key
})

const local: Address = { port: 0, host: "127.0.0.1", apiKeyEnv: Option.none() }
/** How gateways are guarded: the bytes are the most of a conversation, or of what was recorded of an episode. */
export const guarded = { maxBodyBytes: 64 * 2 ** 20, isSlow: () => true, isKeyRequired: true }

const refused = (program: string, remedy = "Name a program, an address or a function.") =>
  new ConfigError({
    field: "rollout.agent.program",
    value: program,
    expected: `${forms}, or :8200 for workers`,
    remedy
  })
