import type { RunConfig } from "@inspo/config"
import { PatientClient } from "@inspo/http/client"
import * as RetrieveClient from "@inspo/retrieval/RetrieveClient"
import { Effect, identity, Redacted, Result, Schedule, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { atMost, type Check, longest } from "./Check.ts"

export const retriever = Effect.fnUntraced(
  function* ({ keys, requests, retrieval }: RunConfig) {
    const { url } = retrieval
    const apiKey = yield* secret(keys.retrieval, "keys.retrieval", "the retriever's key")
    const { search } = yield* RetrieveClient.make({
      url: url ?? "",
      ...(apiKey === null ? {} : { apiKey }),
      timeout: atMost(requests.timeoutSeconds ?? Infinity),
      retries: 1,
      cacheSize: 0
    })
    yield* search(["inspo"], 1)
    return { part: "retriever", status: "ready", detail: "retrieval.url answers a query" } as const
  },
  Effect.provide(FetchHttpClient.layer),
  Effect.catchTag("SearchError", ({ reason }) => Effect.fail(`retrieval.url: ${reason}`)),
  (checking) => reported("retriever", checking)
)

/** Whether the server of an engine reports what it serves; this neither samples nor creates a model. */
export const engine = Effect.fnUntraced(
  function* ({ engine, keys }: RunConfig) {
    const protocol = engine.profile === "completions" ? engine.profile : "tinker"
    const apiKey = yield* secret(keys.engine, "keys.engine", "the server's key")
    const base = URL.parse(engine.url ?? "")
    if (base === null || !["http:", "https:"].includes(base.protocol))
      return yield* Effect.fail("engine.url is not a URL, expected one such as http://127.0.0.1:8000")
    const path = protocol === "tinker" ? "/api/v1/get_server_capabilities" : "/v1/models"
    const shown = `${base.origin}${base.pathname.replace(protocol === "tinker" ? /\/+$/u : /(?:\/v1)?\/*$/u, "")}${path}`
    const request = HttpClientRequest.get(shown).pipe(
      apiKey === null
        ? identity
        : protocol === "tinker"
          ? HttpClientRequest.setHeader("x-api-key", Redacted.value(apiKey))
          : HttpClientRequest.bearerToken(apiKey)
    )
    const client = yield* HttpClient.HttpClient
    const { status, text } = yield* client.execute(request).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))),
      // It may just be starting.
      Effect.retry({ times: 4, schedule: Schedule.spaced("500 millis") }),
      Effect.timeout(atMost(Infinity)),
      PatientClient.unfollowed,
      Effect.mapError(() => `engine.url: ${shown} did not answer; check that the server runs and can be reached`)
    )
    if (status === 401 || status === 403)
      return yield* Effect.fail(`keys.engine: ${shown} answered status ${status}; expected a key that it accepts`)
    if (status !== 200 || Result.isFailure(isObject(text)))
      return yield* Effect.fail(
        `engine.url: ${shown} answered status ${status}${status === 200 ? " without a JSON object" : ""}; expected a server of ` +
          `engine.profile ${engine.profile}`
      )
    return {
      part: "engine",
      status: "ready",
      detail: `engine.url answers as engine.profile ${engine.profile} does`
    } as const
  },
  Effect.provide(FetchHttpClient.layer),
  (checking) => reported("engine", checking)
)

/** Whether every server of tools answers, and has the tools that the agent may call. */
export const tools = Effect.fnUntraced(
  function* (config: RunConfig) {
    const { named } = yield* Effect.promise(() => import("../McpTools.ts"))
    const found = yield* named(config, Math.min(longest, config.requests.timeoutSeconds ?? Infinity))
    return {
      part: "tools",
      status: "ready",
      detail: `rollout.mcp answers, and has ${found.map(({ name }) => name).join(", ") || "no tool that the agent calls"}`
    } as const
  },
  Effect.scoped,
  Effect.catchTag("McpError", ({ message }) => Effect.fail(`rollout.mcp: ${message}`)),
  (checking) => reported("tools", checking)
)

const isObject = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const secret = (variable: string | null, setting: string, meant: string) =>
  variable === null ? Effect.succeed(null) : Secret.fromEnvironment(variable, setting, meant, (problem) => problem)

const reported = <R>(part: Check["part"], checking: Effect.Effect<Check, string, R>): Effect.Effect<Check, never, R> =>
  checking.pipe(Effect.catch((detail) => Effect.succeed<Check>({ part, status: "failed", detail })))
