/** Rollouts of an agent outside of inspo, which asks the engine of a run as its model server. */
import { ConfigError } from "@inspo/coevolution"
import type { Engine } from "@inspo/engine"
import { type Gateway, GatewayRollout, layer as layerGateway, routes } from "@inspo/gateway"
import { OutsideAgent } from "@inspo/outside"
import type { Agent, EpisodeConfig } from "@inspo/rollout"
import { Effect, Layer, Option } from "effect"
import { connect, forms } from "../evolve/Outside.ts"
import type { UsageError } from "../Failure.ts"
import { listen } from "../server/Listen.ts"

export interface Options {
  readonly agent: Agent
  readonly outside: NonNullable<Agent["outside"]>
  readonly limits: EpisodeConfig
  /** The file for what a program prints besides answers. */
  readonly log: string
}

/** The gateway listens on a free port of this machine, as long as the layer lives. */
export const layerRollout = ({ agent, limits, log, outside: { program, timeout, workers } }: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const named = yield* Effect.mapError(Effect.fromOption(OutsideAgent.parse(program)), () => refused(program))
      const player = yield* connect(named, { workers, timeout, log, retries: 0 }).pipe(
        Effect.mapError((error: UsageError) => refused(program, error.problem))
      )
      const services = yield* Effect.context<Gateway | Engine>()
      const served = routes.pipe(Layer.provide(Layer.succeedContext(services)))
      const url = yield* listen("gateway", local, served, { maxBodyBytes, isSlow: () => true }).pipe(
        Effect.mapError(({ problem }) => refused(program, problem))
      )
      return GatewayRollout.layer({ agent, player, url })
    })
  ).pipe(Layer.provide(layerGateway({ ...limits, maxCalls: limits.maxTurns + 1 })))

const local = { port: 0, host: "127.0.0.1", apiKeyEnv: Option.none() }
const maxBodyBytes = 64 * 2 ** 20

const refused = (program: string, remedy = "Name a program, an address or a function.") =>
  new ConfigError({ field: "rollout.agent.program", value: program, expected: forms, remedy })
