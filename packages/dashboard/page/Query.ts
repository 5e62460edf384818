import { Effect } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { useEffect, useRef, useState } from "react"
import * as Recent from "../src/Recent.ts"

type Ask<Client> = <A, E>(request: (client: Client) => Effect.Effect<A, E>, signal?: AbortSignal) => Promise<A>

/** What a view shows: the last response, and the error of a later request. */
export interface Queried<A> {
  readonly data: A | null
  readonly problem: string | null
}

/** A client of the server of this page, which `explain`s its errors as sentences: sends requests, and makes hooks of them. */
export const connect = <Client>(
  made: Effect.Effect<Client, never, HttpClient.HttpClient>,
  explain: (error: object, tag: unknown) => string | null,
  onResponse: () => void = () => {}
) => {
  const client = Effect.runSync(Effect.provide(made, FetchHttpClient.layer))
  const explained = (error: unknown): Error => {
    const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : null
    const sentence = typeof error === "object" && error !== null ? explain(error, tag) : null
    return new Error(explainTransport(tag) ?? sentence ?? "The request failed. Reload the page.")
  }
  const ask: Ask<Client> = (request, signal) =>
    Effect.runPromise(
      request(client).pipe(
        Effect.tap(() => Effect.sync(onResponse)),
        Effect.mapError(explained)
      ),
      signal === undefined ? undefined : { signal }
    )
  return { ask, makeQuery: queryHooks(ask) }
}

/**
 * Makes a hook for one kind of request. The hook sends the request again whenever the arguments or the `version` change, at most once a
 * second for the same arguments, and returns their last response until the next one arrives.
 */
const queryHooks =
  <Client>(ask: Ask<Client>) =>
  <Args, A, E>(request: (client: Client, args: Args) => Effect.Effect<A, E>) => {
    const cache = Recent.make<A>(capacity)
    const cached = (key: string): A | null => cache.get(key) ?? null

    return (args: Args, version: string): Queried<A> => {
      const key = JSON.stringify(args)
      const [queried, setQueried] = useState<Queried<A> & { readonly key: string }>({
        key,
        data: cached(key),
        problem: null
      })
      const sent = useRef({ key: "", at: 0 })
      const latest = useRef(args)
      latest.current = args

      useEffect(() => {
        const abort = new AbortController()
        const wait = sent.current.key === key ? Math.max(0, sent.current.at + interval - performance.now()) : 0
        const load = async () => {
          sent.current = { key, at: performance.now() }
          const next = await ask((client) => request(client, latest.current), abort.signal).then(
            (data) => {
              cache.set(key, data)
              return { key, data, problem: null }
            },
            (error: unknown) => ({
              key,
              data: cached(key),
              problem: error instanceof Error ? error.message : String(error)
            })
          )
          if (!abort.signal.aborted) setQueried(next)
        }
        const timer = window.setTimeout(() => void load(), wait)
        return () => {
          window.clearTimeout(timer)
          abort.abort()
        }
      }, [key, version])

      return queried.key === key ? queried : { data: cached(key), problem: null }
    }
  }

/** Milliseconds between two requests of one view. */
const interval = 1000

const capacity = 20

/** An error that any server can return, as a sentence; null for others. */
const explainTransport = (tag: unknown): string | null =>
  tag === "HttpClientError"
    ? "The server does not respond. If it has stopped, start it again; this page retries."
    : tag === "SchemaError"
      ? "The server has another version than this page. Reload the page."
      : null
