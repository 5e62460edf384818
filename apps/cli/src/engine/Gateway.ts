/** A gateway in a process beside that of a run. */
import { Branch, Gateway, layer as layerGateway } from "@inspo/gateway"
import { Address as Place, PatientClient } from "@inspo/http/client"
import { Config, type Duration, Effect, Layer, Option, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { commandFailure, usageError } from "../Failure.ts"
import { gatewayKey, guarded, Setting } from "../policy/Outside.ts"
import { type Address, admission, listen } from "../server/Listen.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as PooledHttpClient from "./PooledHttpClient.ts"
import * as Remote from "./Remote.ts"

/** Serves agents of a run until it is interrupted, or the run has other settings. It waits for the run to begin. */
export const serveBeside = Effect.fn("Gateway.serveBeside")(
  function* (input: Address, run: string) {
    const apiKey = yield* admission(input)
    const place = Place.parse(run, Option.getOrUndefined(yield* Effect.option(Config.Redacted(gatewayKey))))
    if (Option.isNone(place))
      return yield* usageError("--gateway is not a URL, expected one such as http://127.0.0.1:8200.")
    const { request, shown } = place.value
    const client = yield* HttpClient.HttpClient
    const asking = (retryBudget: Duration.Input) =>
      PatientClient.make(client, { server: shown, answerWithin: "1 minute", retryBudget })

    const said = yield* Effect.mapError(
      asking("1 hour")(HttpClientRequest.appendUrl(request, "/episodes/setting")),
      ({ reason }) =>
        commandFailure(`${shown} is not a run with --agent :PORT, or ${gatewayKey} is not its key: ${reason}.`)
    )
    const { engine, limits, timeout } = yield* Effect.mapError(decode(said), ({ message }) =>
      commandFailure(`${shown} is a run of another version of inspo: ${message}`)
    )
    const { url } = engine
    if (url === null)
      return yield* commandFailure(
        `The engine of ${shown} is in its own process; set its engine.url to that of a server.`
      )
    const key = Option.isSome(yield* Effect.option(Config.Redacted(engineKey))) ? engineKey : null
    const policy = Remote.layer(
      { ...engine, url, key },
      { names: { ...Remote.settings, apiKey: "its key" }, isBeside: true }
    )
    const ask = asking("10 seconds")

    return yield* Effect.gen(function* () {
      const { changed, routes } = yield* Branch.make({
        setting: said,
        timeout: timeout * 1000,
        ask: (path, body) =>
          request.pipe(
            HttpClientRequest.setMethod("POST"),
            HttpClientRequest.appendUrl(path),
            HttpClientRequest.bodyJsonUnsafe(body),
            ask
          )
      })
      const keys = apiKey === undefined ? [] : [apiKey]
      const served = yield* listen("gateway", input, routes, { ...guarded, keys })
      // The agents of these calls, and with them the run, learn it too.
      yield* Gateway.use(({ failure }) => Effect.tapError(failure, ({ message }) => Effect.logWarning(message))).pipe(
        Effect.ignore,
        Effect.forkScoped
      )
      yield* Reporter.print({ url: served, run: shown, engine: url }, () => [
        `Gateway of ${shown} at ${served}, over ${url}`
      ])
      return yield* Effect.mapError(changed, ({ message }) => commandFailure(`${message}.`))
    }).pipe(Effect.provide(Layer.provideMerge(layerGateway(limits), policy)))
  },
  Effect.provide(PooledHttpClient.layer("2 minutes")),
  Effect.scoped
)

const decode = Schema.decodeEffect(Schema.fromJsonString(Setting))

/** The variable with the key of the engine's server: one that a run names could be any secret of this machine. */
const engineKey = "INSPO_ENGINE_KEY"
