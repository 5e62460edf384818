/** The language model that `inspo serve` forwards requests to. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Inspo, type Problem } from "@inspo/client"
import * as Proxy from "@inspo/serve/http/Proxy"
import type { Keys } from "@inspo/serve/http/Server"
import { Clock, Deferred, Effect, Layer, Option, Redacted, type Scope } from "effect"
import type { HttpRouter } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { type UsageError, usageError } from "../Failure.ts"
import type { Address } from "../server/Listen.ts"

export interface UpstreamInput extends Pick<Address, "trustedProxy"> {
  readonly upstream: Option.Option<string>
  readonly upstreamKeyEnv: Option.Option<string>
  /** In seconds. */
  readonly upstreamTimeout: number
}

export interface Upstream {
  /** Empty without an upstream. */
  readonly routes: Layer.Layer<never, never, HttpRouter.HttpRouter>
  /** Called with the address at which instructions are leased, once they are. */
  readonly begin: (url: string) => Effect.Effect<void, never, Scope.Scope>
}

export const make = Effect.fnUntraced(function* (
  { trustedProxy: proxies = [], upstream, upstreamKeyEnv, upstreamTimeout }: UpstreamInput,
  keys: Keys
): Effect.fn.Return<Upstream, UsageError> {
  if (upstreamTimeout < 1)
    return yield* usageError(`--upstream-timeout is ${upstreamTimeout}, expected 1 second or more.`)
  if (Option.isNone(upstream)) {
    if (Option.isSome(upstreamKeyEnv))
      return yield* usageError("--upstream-key-env names the key of an upstream. Name that with --upstream.")
    return { routes: Layer.empty, begin: () => Effect.void }
  }
  const url = yield* addressOf(upstream.value)
  const upstreamKey = yield* Secret.ofFlag("--upstream-key-env", upstreamKeyEnv, "the key of the upstream")
  const client = yield* Deferred.make<Inspo>()
  const routes = Proxy.layer({
    upstream: url,
    ...(upstreamKey === undefined ? {} : { upstreamKey }),
    keys,
    proxies,
    timeout: `${upstreamTimeout} seconds`,
    inspo: Deferred.await(client)
  }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
  return {
    routes,
    begin: (url: string) => Effect.andThen(leasingAt(url, keys), (inspo) => Deferred.succeed(client, inspo))
  }
})

/** Abandoned leases are reported before the server ends. */
const leasingAt = (url: string, { admin, lease = admin }: Keys) => {
  const key = lease === undefined ? {} : { apiKey: Redacted.value(lease) }
  return Effect.acquireRelease(
    Effect.map(noting, (onProblem) => new Inspo({ urls: [url], timeout: flushTimeout, onProblem, ...key })),
    (inspo) => Effect.promise(() => inspo.flush({ timeout: flushTimeout }))
  )
}

/** Logs each kind of problem once a minute, without the server's refusal, which may repeat what a user wrote. */
const noting = Effect.map(Effect.context(), (context) => {
  const logged = new Map<string, number>()
  const note = Effect.fnUntraced(function* ({ kind, message, population }: Problem) {
    const now = yield* Clock.currentTimeMillis
    const why = message.replace(/^(status \d+|a reward was \w+).*$/su, "$1")
    if (now - (logged.get(kind) ?? -Infinity) < 60_000) return
    logged.set(kind, now)
    yield* Effect.annotateLogs(Effect.logWarning(`a forwarded request is ${kind}: ${why}`), { population })
  })
  return (problem: Problem) => void Effect.runForkWith(context)(note(problem))
})

/** Milliseconds that a request to a model, which takes seconds, waits for its instruction. */
const flushTimeout = 1000

const addressOf = (upstream: string): Effect.Effect<string, UsageError> => {
  const url = URL.parse(upstream)
  const isAddress =
    url !== null &&
    /^https?:$/u.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].join("") === ""
  return isAddress
    ? Effect.succeed(upstream)
    : Effect.fail(
        usageError(
          "--upstream is not an address without credentials, query and fragment, such as https://api.openai.com/v1. " +
            "Name its key with --upstream-key-env, or let callers send it."
        )
      )
}
