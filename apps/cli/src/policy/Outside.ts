/** Rollouts of an agent outside of inspo, which asks the engine of a run as its model server. */
import { ConfigError } from "@inspo/coevolution"
import type { Engine } from "@inspo/engine"
import { type Gateway, GatewayRollout, layer as layerGateway, routes, Workers } from "@inspo/gateway"
import { OutsideAgent } from "@inspo/outside"
import type { Agent, EpisodeConfig } from "@inspo/rollout"
import { Effect, Layer, Option } from "effect"
import { connect, forms } from "../evolve/Outside.ts"
import type { UsageError } from "../Failure.ts"
import { type Address, listen } from "../server/Listen.ts"

export interface Options {
  readonly agent: Agent
  readonly outside: NonNullable<Agent["outside"]>
  readonly limits: EpisodeConfig
  /** The file for what a program prints besides answers. */
  readonly log: string
}

/** The gateway listens as long as the layer lives: on a free port of this machine, or for workers where they reach it. */
export const layerRollout = (options: Options) => {
  const {
    agent,
    limits,
    outside: { program, timeout }
  } = options
  return Layer.unwrap(
    Effect.gen(function* () {
      const place = placeOf(program)
      const workers = place === null ? null : yield* Workers.make({ name: program, timeout: timeout * 1000 })
      const player = workers?.player ?? (yield* connected(options))
      const services = yield* Effect.context<Gateway | Engine>()
      const served = Layer.merge(routes, workers?.routes ?? Layer.empty).pipe(
        Layer.provide(Layer.succeedContext(services))
      )
      const url = yield* listen("gateway", place ?? local, served, { maxBodyBytes, isSlow: () => true }).pipe(
        Effect.mapError(({ problem }) => refused(program, problem))
      )
      return GatewayRollout.layer({ agent, player, url })
    })
  ).pipe(Layer.provide(layerGateway({ ...limits, maxCalls: limits.maxTurns + 1 })))
}

/** A program, an address or a function. */
const connected = Effect.fnUntraced(function* ({ log, outside: { program, timeout, workers } }: Options) {
  const named = yield* Effect.mapError(Effect.fromOption(OutsideAgent.parse(program)), () => refused(program))
  return yield* connect(named, { workers, timeout, log, retries: 0 }).pipe(
    Effect.mapError((error: UsageError) => refused(program, error.problem))
  )
})

/** Where workers get their episodes, such as `:8200` or `0.0.0.0:8200`. Others than this machine's send a key. */
const placeOf = (program: string): Address | null => {
  const [, host = "", port] = /^([\w.-]*):(\d+)$/u.exec(program) ?? []
  if (port === undefined) return null
  const isOpen = host !== "" && host !== local.host && host !== "localhost"
  return {
    host: host === "" ? local.host : host,
    port: Number(port),
    apiKeyEnv: isOpen ? Option.some("INSPO_GATEWAY_KEY") : Option.none()
  }
}

const local: Address = { port: 0, host: "127.0.0.1", apiKeyEnv: Option.none() }
const maxBodyBytes = 64 * 2 ** 20

const refused = (program: string, remedy = "Name a program, an address or a function.") =>
  new ConfigError({
    field: "rollout.agent.program",
    value: program,
    expected: `${forms}, or :8200 for workers`,
    remedy
  })
