import { assert, describe, it } from "@effect/vitest"
import type { Question } from "@inspo/domain"
import { Search, SearchError } from "@inspo/retrieval"
import * as Bm25 from "@inspo/retrieval/Bm25"
import { make, type Options } from "@inspo/retrieval/RetrieveClient"
import * as Server from "@inspo/retrieval/Server"
import { Corpora, SearchLaws } from "@inspo/retrieval/testing"
import { Array as Arr, Effect, Fiber, Layer, Ref, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse, HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"

interface Asked {
  readonly queries: ReadonlyArray<string>
  readonly topk: number
}

const decodeAsked = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ queries: Schema.Array(Schema.String), topk: Schema.Int, return_scores: Schema.Literal(true) })
  )
)

/** A retriever that answers the nth request by `answer(asked, n)`; an error stands for a broken connection. */
const scripted = Effect.fnUntraced(function* (answer: (asked: Asked, n: number) => Response | Error) {
  const log = yield* Ref.make<ReadonlyArray<Asked>>([])
  const urls = yield* Ref.make<ReadonlyArray<string>>([])
  const client = HttpClient.make((request, url) =>
    Effect.gen(function* () {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const asked = decodeAsked(body)
      const n = (yield* Ref.updateAndGet(log, Arr.append(asked))).length
      yield* Ref.update(urls, Arr.append(`${url.href} ${request.headers["authorization"] ?? ""}`.trim()))
      const response = answer(asked, n)
      return response instanceof Error
        ? yield* new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, cause: response })
          })
        : HttpClientResponse.fromWeb(request, response)
    })
  )
  const connect = (options: Partial<Options> = {}) =>
    make({ url: "http://retriever:8000", ...options }).pipe(Effect.provideService(HttpClient.HttpClient, client))
  return { connect, asked: Ref.get(log), urls: Ref.get(urls) }
})

const json = (body: unknown, status = 200) => Response.json(body, { status })

/** Each query is answered by one document that repeats it. */
const echo = ({ queries }: Asked) =>
  json({ result: queries.map((query) => [{ document: { id: query, contents: `"T"\n${query}` }, score: 1 }]) })

const texts = (lists: ReadonlyArray<ReadonlyArray<{ readonly passage: { readonly text: string } }>>) =>
  lists.map((list) => list.map(({ passage }) => passage.text))

describe("make", () => {
  it.effect.prop(
    "asks every query once, in batches, and answers in their order, with and without a cache",
    [
      Schema.Array(Schema.Literals(["a", "b", "c", "d", "e", "f", ""])),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })),
      Schema.Boolean
    ],
    ([queries, batchSize, cached]) =>
      Effect.gen(function* () {
        const retriever = yield* scripted(echo)
        const { search } = yield* retriever.connect({ batchSize, cacheSize: cached ? 100 : 0 })
        const found = yield* Effect.all([search(queries, 3), search(queries.toReversed(), 3)], { concurrency: 2 })
        assert.deepStrictEqual(
          texts(found[0]),
          queries.map((query) => [query])
        )
        assert.deepStrictEqual(
          texts(found[1]),
          queries.toReversed().map((query) => [query])
        )
        const requests = yield* retriever.asked
        for (const request of requests) {
          assert.isAtLeast(request.queries.length, 1)
          assert.isAtMost(request.queries.length, batchSize)
          assert.lengthOf(new Set(request.queries), request.queries.length)
        }
        if (!cached) return
        assert.sameMembers(
          requests.flatMap((request) => request.queries),
          [...new Set(queries)]
        )
        assert.deepStrictEqual(texts(yield* search(queries, 3)), texts(found[0]))
        assert.lengthOf(yield* retriever.asked, requests.length)
      })
  )

  it.effect("remembers answers by query and number of passages, and no failures", () =>
    Effect.gen(function* () {
      const retriever = yield* scripted((asked, n) => (n === 1 ? json("no", 400) : echo(asked)))
      const { search } = yield* retriever.connect({ retries: 0 })
      yield* Effect.flip(search(["a"], 3))
      yield* search(["a"], 3)
      yield* search(["a"], 2)
      yield* search(["a"], 3)
      assert.deepStrictEqual(
        (yield* retriever.asked).map(({ topk }) => topk),
        [3, 3, 2]
      )
    })
  )

  it.effect("sends nothing for no query and for no passage", () =>
    Effect.gen(function* () {
      const retriever = yield* scripted(echo)
      const { search } = yield* retriever.connect()
      assert.deepStrictEqual(yield* search([], 3), [])
      assert.deepStrictEqual(yield* search(["a", "b"], 0), [[], []])
      assert.deepStrictEqual(yield* retriever.asked, [])
    })
  )

  it.effect("understands the answers of every known server", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<
        readonly [ReadonlyArray<unknown>, ReadonlyArray<readonly [string, string, number]>]
      > = [
        [[{ document: { id: "7", contents: '"A ""B"""\nt\nu' }, score: 0.5 }], [['A "B"', "t\nu", 0.5]]],
        [[{ document: { title: "A", text: "t", contents: '"A"\nt' }, score: 2 }], [["A", "t", 2]]],
        [[{ document: { title: "A", text: "t" }, score: 2 }], [["A", "t", 2]]],
        [
          [{ document: { contents: '"A"\nt' } }, { document: { contents: "B" } }],
          [
            ["A", "t", 0],
            ["B", "", -1]
          ]
        ],
        [[{ id: 3, contents: '"A"\nt' }], [["A", "t", 0]]],
        [
          ["1", "2", "3", "4"].map((id) => ({ document: { id, contents: id }, score: 1 })),
          [
            ["1", "", 1],
            ["2", "", 1],
            ["3", "", 1]
          ]
        ],
        [[], []]
      ]
      const retriever = yield* scripted(({ queries }) =>
        json({ result: queries.map((query) => answers[Number(query)]?.[0]) })
      )
      const { search } = yield* retriever.connect()
      const found = yield* search(
        answers.map((_, index) => `${index}`),
        3
      )
      assert.deepStrictEqual(
        found.map((list) => list.map(({ passage, score }) => [passage.title, passage.text, score])),
        answers.map(([, expected]) => expected.map((each) => [...each]))
      )
      assert.isTrue(found.flat().every(({ passage }) => passage.id !== ""))
    })
  )

  it.effect("repeats what may work the next time, after growing pauses", () =>
    Effect.gen(function* () {
      const failures = [json("busy", 503), json("late", 408), json("many", 429), new Error("ECONNREFUSED")]
      const retriever = yield* scripted((asked, n) => failures[n - 1] ?? echo(asked))
      const { search } = yield* retriever.connect()
      const running = yield* Effect.forkChild(search(["a"], 3))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(texts(yield* Fiber.join(running)), [["a"]])
      assert.lengthOf(yield* retriever.asked, 5)
    })
  )

  it.effect("gives up with one error that names the address without its password", () =>
    Effect.gen(function* () {
      for (const [answer, requests, part] of [
        [() => json("down", 503), 3, "status 503"],
        [() => new Error("ECONNREFUSED"), 3, "did not answer"],
        [() => json("who?", 401), 1, "Give the key"],
        [() => new Response("<html>"), 1, "answered <html>"],
        [() => json({ result: [] }), 1, "0 lists of documents for 1 queries"],
        [() => json({ result: [[{ document: { id: "1" } }]] }), 1, "expected {"],
        [() => json({ result: [null] }), 1, "expected {"]
      ] as const) {
        const retriever = yield* scripted(answer)
        const { search } = yield* retriever.connect({
          url: "http://me:secret@retriever:8000/base/?token=secret",
          retries: 2
        })
        const running = yield* Effect.forkChild(Effect.flip(search(["a"], 3)))
        yield* TestClock.adjust("1 minute")
        const error = yield* Fiber.join(running)
        assert.instanceOf(error, SearchError)
        assert.include(error.message, "http://retriever:8000/base/retrieve")
        assert.include(error.message, part)
        assert.notInclude(error.message, "secret")
        assert.lengthOf(yield* retriever.asked, requests)
        assert.deepStrictEqual(
          (yield* retriever.urls)[0],
          `http://retriever:8000/base/retrieve?token=secret Basic ${btoa("me:secret")}`
        )
      }
    })
  )

  it.effect("gives up on a retriever that never answers", () =>
    Effect.gen(function* () {
      const client = HttpClient.make(() => Effect.never)
      const { search } = yield* make({ url: "http://retriever", timeout: "5 seconds", retries: 1 }).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
      const running = yield* Effect.forkChild(Effect.flip(search(["a"], 3)))
      yield* TestClock.adjust("1 minute")
      assert.include((yield* Fiber.join(running)).message, "did not answer")
    })
  )

  it.effect("refuses what is not a URL without repeating it", () =>
    Effect.gen(function* () {
      const retriever = yield* scripted(echo)
      for (const url of ["", "secret@:", "ftp://secret/", "127.0.0.1:8000"]) {
        const error = yield* Effect.flip(retriever.connect({ url }))
        assert.include(error.message, "http://127.0.0.1:8000")
        assert.notInclude(error.message, "secret")
      }
    })
  )
})

/** A client of a server of this search. */
const served = Effect.fnUntraced(function* (search: Search.Interface) {
  const { handler, dispose } = HttpRouter.toWebHandler(
    Server.layer({ topK: 3 }).pipe(Layer.provide(Layer.succeed(Search)(search)), Layer.provideMerge(HttpRouter.layer)),
    { disableLogger: true }
  )
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const client = HttpClient.make((request, url) =>
    Effect.promise(() =>
      handler(
        new Request(url, {
          method: "POST",
          headers: { ...request.headers },
          body: request.body._tag === "Uint8Array" ? request.body.body.slice() : null
        })
      )
    ).pipe(Effect.map((response) => HttpClientResponse.fromWeb(request, response)))
  )
  return yield* make({ url: "http://retriever", batchSize: 2 }).pipe(
    Effect.provideService(HttpClient.HttpClient, client)
  )
})

describe("client and server", () => {
  it.effect.prop(
    "find what a search in the same process finds",
    [Corpora.Texts, Corpora.Queries, Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: 5 }))],
    ([drawn, drawnQueries, topK]) =>
      Effect.gen(function* () {
        const queries = Corpora.toQueries(drawnQueries)
        const here = yield* Bm25.make(Corpora.toPassages(drawn))
        const there = yield* served(here)
        assert.deepStrictEqual(yield* there.search(queries, topK), yield* here.search(queries, topK))
      }).pipe(Effect.scoped)
  )

  const open = (passages: ReadonlyArray<Question.Passage>) => Effect.flatMap(Bm25.make(passages), served)
  for (const { check, name } of SearchLaws.laws(open)) it.effect(name, () => check)
})
