/** A gateway in a process beside that of a run. */
import { Branch, Gateway, layer as layerGateway } from "@inspo/gateway"
import { Address as Place, PatientClient } from "@inspo/http/client"
import { Config, Duration, Effect, Layer, Option, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { commandFailure, usageError } from "../Failure.ts"
import { gatewayKey, maxBodyBytes, Setting } from "../policy/Outside.ts"
import { type Address, admission, listen } from "../server/Listen.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as PooledHttpClient from "./PooledHttpClient.ts"
import * as Remote from "./Remote.ts"

/** Serves the agents of the run at an address until it is interrupted, or the run has other settings. Waits for the run to begin. */
export const serveBeside = Effect.fn("Gateway.serveBeside")(
  function* (input: Address & { readonly run: string }) {
    const apiKey = yield* admission(input)
    const own = yield* Effect.option(Config.Redacted(gatewayKey))
    const run = Place.parse(input.run, Option.getOrUndefined(own))
    if (Option.isNone(run))
      return yield* usageError("--gateway is not a URL, expected one such as http://127.0.0.1:8200.")
    const { request, shown } = run.value
    const client = yield* HttpClient.HttpClient
    const asking = (retryBudget: Duration.Input) =>
      PatientClient.make(client, { server: shown, answerWithin: "1 minute", retryBudget })
    const patient = asking("1 hour")
    const quick = asking("10 seconds")

    const said = yield* patient(HttpClientRequest.appendUrl(request, "/episodes/setting")).pipe(
      Effect.mapError(({ reason }) =>
        commandFailure(`The run at ${shown} gave no setting (${reason}). Start it with --agent :PORT.`)
      )
    )
    const setting = yield* Effect.mapError(decode(said), ({ message }) =>
      commandFailure(`The run at ${shown} has an unknown setting (${message}). Use one version of inspo.`)
    )
    const { engine, limits, timeout } = setting
    const { url } = engine
    if (url === null)
      return yield* commandFailure(
        `The run at ${shown} has its engine in its own process. Set engine.url to a server that its gateways reach, too.`
      )
    const hasKey = Option.isSome(yield* Effect.option(Config.Redacted(engineKey)))
    const policy = Remote.layer(
      { ...engine, url, key: hasKey ? engineKey : null },
      { names: { ...Remote.settings, apiKey: engineKey }, samples: true }
    )

    return yield* Effect.gen(function* () {
      const branch = yield* Branch.make({
        setting: yield* Effect.orDie(Schema.decodeEffect(Schema.fromJsonString(Schema.Json))(said)),
        timeout: timeout * 1000,
        ask: (path, body) =>
          quick(
            request.pipe(
              HttpClientRequest.setMethod("POST"),
              HttpClientRequest.appendUrl(path),
              HttpClientRequest.bodyJsonUnsafe(body)
            )
          )
      })
      const served = yield* listen("gateway", input, branch.routes, {
        maxBodyBytes,
        isSlow: () => true,
        keys: apiKey === undefined ? [] : [apiKey]
      })
      const { failure } = yield* Gateway
      yield* Effect.forkScoped(Effect.catch(failure, ({ message }) => Effect.logWarning(message)))
      yield* Reporter.print({ url: served, run: shown, engine: url }, () => [
        `Gateway of ${shown} at ${served}, over ${url}`
      ])
      return yield* Effect.mapError(branch.changed, ({ message }) => commandFailure(`${message}.`))
    }).pipe(Effect.provide(Layer.provideMerge(layerGateway(limits), policy)))
  },
  Effect.provide(PooledHttpClient.layer("2 minutes")),
  Effect.scoped
)

const decode = Schema.decodeEffect(Schema.fromJsonString(Setting))
const engineKey = "INSPO_ENGINE_KEY"
