import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Search, type SearchError } from "@inspo/retrieval"
import * as CorpusIndex from "@inspo/retrieval/CorpusIndex"
import * as RetrieveProtocol from "@inspo/retrieval/RetrieveProtocol"
import * as Server from "@inspo/retrieval/Server"
import { Config, Console, Effect, FileSystem, Layer, Option, Ref } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { CommandFailure, UsageError } from "../Failure.ts"

export interface ServeInput {
  readonly corpus: string
  readonly port: number
  readonly host: string
  readonly index: Option.Option<string>
  readonly topk: number
  readonly apiKeyEnv: Option.Option<string>
  readonly json: boolean
  readonly quiet: boolean
}

/** Serves a corpus until it is interrupted; requests in flight are then answered. One line tells that it is ready. */
export const serve = Effect.fn("Serve.serve")(function* (input: ServeInput) {
  const { corpus, host, port, topk } = input
  yield* check(input)
  const apiKey = yield* Effect.forEach(Option.toArray(input.apiKeyEnv), key)
  const index = yield* CorpusIndex.make({
    corpus,
    ...Option.match(input.index, { onNone: () => ({}), onSome: (index) => ({ index }) }),
    onProgress: yield* progress(input)
  }).pipe(Effect.mapError(failure))

  const server = HttpRouter.serve(
    Server.layer({ topK: topk, ...(apiKey[0] === undefined ? {} : { apiKey: apiKey[0] }) }).pipe(
      Layer.provide(Layer.succeed(Search)(Search.of({ search: index.search })))
    ),
    { disableLogger: true, disableListenLog: true }
  ).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port, host, gracefulShutdownTimeout: "5 seconds" })),
    Layer.build,
    Effect.mapError(
      ({ cause }) =>
        new CommandFailure({
          problem:
            `The retriever cannot listen on ${host} port ${port} (${cause instanceof Error ? cause.message : String(cause)}). ` +
            "Choose another with --port; 0 takes a free one."
        })
    )
  )
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, yield* server)
  const bound = "port" in address ? address.port : port
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}${RetrieveProtocol.path}`
  yield* Console.log(
    input.json
      ? JSON.stringify({ url, passages: index.size, built: index.built })
      : `${index.size} passages of ${corpus} at ${url}`
  )
  return yield* Effect.never
}, Effect.scoped)

const check = Effect.fnUntraced(function* ({ apiKeyEnv, corpus, host, port, topk }: ServeInput) {
  const fs = yield* FileSystem.FileSystem
  const isFile = yield* Effect.match(fs.stat(corpus), {
    onFailure: () => false,
    onSuccess: ({ type }) => type === "File"
  })
  if (!isFile)
    return yield* new UsageError({ problem: `The corpus ${corpus} is no file that can be read. Check the path.` })
  if (port < 0 || port > 65_535) return yield* new UsageError({ problem: `--port is ${port}, expected 0 to 65535.` })
  if (topk < 1) return yield* new UsageError({ problem: `--topk is ${topk}, expected a positive number of documents.` })
  if (!loopback.has(host) && Option.isNone(apiKeyEnv))
    return yield* new UsageError({
      problem:
        `--host is ${host}, where other machines may ask. Name a key that they have to bring with --api-key-env, or ` +
        "leave --host out to serve this machine alone."
    })
})

const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"])

const key = (variable: string) =>
  Effect.mapError(
    Config.Redacted(variable),
    () =>
      new UsageError({
        problem: `--api-key-env is ${variable}, which the environment does not hold. Set it to the key.`
      })
  )

/** A line on standard error for every tenth of the corpus. */
const progress = Effect.fnUntraced(function* ({ corpus, quiet }: ServeInput) {
  const told = yield* Ref.make(-1)
  return Effect.fnUntraced(function* (share: number) {
    const tenth = Math.floor(share * 10)
    if (quiet || tenth <= (yield* Ref.getAndUpdate(told, (before) => Math.max(before, tenth)))) return
    yield* Console.error(`indexing ${corpus}: ${tenth * 10} %`)
  })
})

const failure = ({ message }: SearchError) => new CommandFailure({ problem: `${message}.` })
