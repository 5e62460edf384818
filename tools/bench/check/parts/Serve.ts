import * as Populations from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import { Array as Arr, Effect, FileSystem, Layer, References, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as Cost from "../../serve/Cost.ts"
import { Level } from "../Comparison.ts"
import { measure } from "../Workload.ts"

const counts = { count: 8000, warmUp: 4000 }

const samples = 5
/** Groups of a request, as of a worker that takes its share. */
const chunk = 16

/**
 * Cohorts of the instruction server: leases, then a reward for each of five samples, through its routes into SQLite. Then single requests
 * over sockets, whose processor time is compared with that of a server of Node alone in the same run.
 */
export const figures = Effect.gen(function* () {
  const { growth, level } = yield* measure({
    part: "serve",
    name: "leases and rewards",
    items: "rewards",
    scale: "groups of a cohort",
    sizes: [256, 8192],
    itemsOf: (groups) => groups * samples,
    rounds: 3,
    make: (groups) => Effect.map(makePost, (post) => cohorts(post, groups))
  })
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const { kilobytes, ratio } = yield* Effect.promise(() => Cost.beside(folder, { counts, turns: 3 }))
  const ofRequest = (name: string, unit: string, value: number) =>
    Level.make({ part: "serve", name, unit, value, better: "less", tolerance: 0.25 })
  return [
    level,
    growth,
    ofRequest("a request", "processor times of a request of Node alone", ratio),
    ofRequest("garbage of a request", "kB", kilobytes)
  ]
}).pipe(Effect.provideService(References.MinimumLogLevel, "None"))

const population = {
  profile: "trainer",
  seed: "Answer the question.",
  variants: ["Think, then answer the question.", "Answer the question from sources."],
  settings: { randomSeed: 1 }
}

type Post = (path: string, body: unknown) => Effect.Effect<string>

/** Sends to a server of its own, without a socket. */
const makePost = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const services = yield* Effect.context()
  const store = yield* Layer.build(SqliteStore.layer(directory))
  const { dispose, handler } = HttpRouter.toWebHandler(
    Server.layer().pipe(
      Layer.provide(Populations.layer),
      Layer.provide(Layer.succeedContext(store)),
      Layer.provideMerge(HttpServer.layerServices),
      Layer.provideMerge(Layer.succeedContext(services))
    ),
    { disableLogger: true, routerConfig: { maxParamLength: 2048 } }
  )
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const send = (method: string) => (path: string, body: unknown) =>
    Effect.promise(async () => {
      const headers = { "content-type": "application/json" }
      const request = new Request(`http://localhost/v1/populations/policy${path}`, {
        method,
        headers,
        body: JSON.stringify(body)
      })
      const answer = await handler(request)
      if (!answer.ok) throw new Error(await answer.text())
      return answer.text()
    })
  yield* send("PUT")("", population)
  return send("POST")
})

const decodeLeases = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ leases: Schema.Array(Schema.Struct({ lease: Schema.String })) }))
)

/** Each time it runs, the next cohort of so many groups. */
const cohorts = (post: Post, groups: number) => {
  let number = 0
  return Effect.gen(function* () {
    const cohort = `train/${number++}`
    for (const keys of Arr.chunksOf(
      Arr.makeBy(groups, (index) => `${index}`),
      chunk
    )) {
      const requests = keys.map((key) => ({ key, n: samples }))
      const { leases } = decodeLeases(yield* post("/leases", { cohort, requests }))
      const rewards = leases.flatMap(({ lease }, at) =>
        Arr.makeBy(samples, (sample) => ({ lease, sample, value: (at + sample) % 2 }))
      )
      yield* post("/rewards", { rewards, close: { cohort, groups } })
    }
  })
}
