import { RetrieveProtocol, Search, type SearchError } from "@inspo/retrieval"
import * as CorpusIndex from "@inspo/retrieval/CorpusIndex"
import * as Server from "@inspo/retrieval/Server"
import { Console, Effect, FileSystem, Layer, Option, Ref } from "effect"
import { usageError } from "../Failure.ts"
import { type Address, admission, listen } from "../server/Listen.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface ServeInput extends Address {
  readonly corpus: string
  readonly index: Option.Option<string>
  readonly topk: number
  readonly quiet: boolean
}

/** Serves a corpus until it is interrupted; requests in flight are then answered. One line shows that it is ready. */
export const serve = Effect.fn("Serve.serve")(function* (input: ServeInput) {
  const { corpus, topk } = input
  yield* check(input)
  const apiKey = yield* admission(input)
  const index = yield* CorpusIndex.make({
    corpus,
    ...Option.match(input.index, { onNone: () => ({}), onSome: (index) => ({ index }) }),
    onProgress: yield* progress(input)
  }).pipe(Effect.mapError(failure))

  const routes = Server.layer({ topK: topk, ...(apiKey === undefined ? {} : { apiKey }) }).pipe(
    Layer.provide(Layer.succeed(Search)(Search.of({ search: index.search })))
  )
  const url = `${yield* listen("retriever", input, routes, { keys: apiKey === undefined ? [] : [apiKey] })}${RetrieveProtocol.path}`
  yield* Reporter.print({ url, passages: index.size, built: index.built }, () => [
    `${index.size} passages of ${corpus} at ${url}`
  ])
  return yield* Effect.never
}, Effect.scoped)

const check = Effect.fnUntraced(function* ({ corpus, topk }: ServeInput) {
  const fs = yield* FileSystem.FileSystem
  const isFile = yield* Effect.match(fs.stat(corpus), {
    onFailure: () => false,
    onSuccess: ({ type }) => type === "File"
  })
  if (!isFile) return yield* usageError(`The corpus ${corpus} is not a readable file. Check the path.`)
  if (topk < 1) return yield* usageError(`--topk is ${topk}, expected a positive number of documents.`)
})

const progress = Effect.fnUntraced(function* ({ corpus, quiet }: ServeInput) {
  const shown = yield* Ref.make(-1)
  return Effect.fnUntraced(function* (share: number) {
    const tenth = Math.floor(share * 10)
    if (quiet || tenth <= (yield* Ref.getAndUpdate(shown, (before) => Math.max(before, tenth)))) return
    yield* Console.error(`indexing ${corpus}: ${tenth * 10} %`)
  })
})

const failure = (cause: SearchError) => usageError(`${cause.message}.`, cause)
