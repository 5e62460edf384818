import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Engine } from "@inspo/engine"
import { Branch, type Gateway, GatewayRollout, layer as layerGateway, routes, Workers } from "@inspo/gateway"
import { layerExactMatch } from "@inspo/reward"
import { Agents, defaultConfig, Rollout } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Context, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { HttpRouter } from "effect/http"

const limits = { maxCalls: 4, maxPromptTokens: 4_000, maxResponseTokens: 50, temperature: 1, topP: 1, tools: [] }
const instruction = Instruction.make("Say it.", { id: "i0" })
const setting = { any: "setting" }
const timeout = "20 seconds"

/** What it writes shows the seed, so that a token of another episode, or of another draw, is another one. */
const writing: ScriptedEngine.Script = (_, { seed }) => `by ${seed.slice(0, 8)}`
const sampledAs = (sampler: string | undefined) =>
  Layer.sync(Engine, () => {
    const engine = ScriptedEngine.make(writing)
    return {
      ...engine,
      sampler: Effect.succeed("weights"),
      sample: (requests) => {
        for (const request of requests) assert.strictEqual(request.sampler, sampler)
        return engine.sample(requests)
      }
    }
  })
const services = (sampler: string | undefined) =>
  Layer.merge(layerExactMatch, Layer.provideMerge(layerGateway(limits), sampledAs(sampler)))

type Handler = (request: Request) => Promise<Response>
const handling = (served: Layer.Layer<never, never, HttpRouter.HttpRouter>) => {
  const { dispose, handler } = HttpRouter.toWebHandler(served, { disableLogger: true })
  return Effect.as(
    Effect.addFinalizer(() => Effect.promise(dispose)),
    (request: Request) => handler(request, Context.empty())
  )
}

/** A gateway in its own scope, which asks the run through its handler. */
const branch = Effect.fnUntraced(function* (run: Handler) {
  const scope = yield* Scope.make()
  const made = yield* Branch.make({
    setting: JSON.stringify(setting),
    timeout,
    ask: (path, body) =>
      Effect.promise(() => run(request(`http://run:8200${path}`, body))).pipe(
        Effect.flatMap((response) =>
          Effect.promise(async () => ({ status: response.status, body: await response.text() }))
        ),
        Effect.filterOrFail(
          ({ status }) => status === 200,
          ({ body, status }) => ({ status, reason: body })
        ),
        Effect.map(({ body }) => body)
      )
  }).pipe(Effect.provide(services("weights")), Scope.provide(scope))
  const handler = yield* Scope.provide(handling(made.routes), scope)
  return { handler, changed: made.changed, kill: Scope.close(scope, Exit.void) }
})

const request = (url: string, body: unknown) =>
  new Request(url, { method: "POST", body: JSON.stringify(body), headers: { host: new URL(url).host } })

const Call = Schema.Struct({ id: Schema.String, baseUrl: Schema.String, rewardUrl: Schema.String, attempt: Schema.Int })
const decodeCall = Schema.decodeUnknownSync(Schema.NullOr(Call))
const decodeContent = Schema.decodeUnknownSync(
  Schema.Struct({ choices: Schema.Tuple([Schema.Struct({ message: Schema.Struct({ content: Schema.String }) })]) })
)

const asking = { messages: [{ role: "user", content: "Who?" }] }

/** How many calls each episode makes, and after which of all calls one of the gateways is killed. */
const Play = Schema.Struct({
  turns: Schema.Array(Schema.Literals([1, 2, 3])).check(Schema.isMinLength(1), Schema.isMaxLength(8)),
  kill: Schema.NullOr(Schema.Literals([1, 2, 3, 5, 8]))
})

/** Episodes that two workers play through so many gateways; the run's own where there are none. */
const playing = Effect.fnUntraced(function* ({ kill, turns }: typeof Play.Type, count: number) {
  const context = yield* Effect.context<Gateway | Engine>()
  const workers = yield* Workers.make({ name: "workers", timeout, setting })
  const run = yield* handling(Layer.merge(routes, workers.routes).pipe(Layer.provide(Layer.succeedContext(context))))
  const branches = yield* Effect.replicateEffect(branch(run), count)
  const names: Array<string> = []
  const placeOf = (url: string) => {
    const name = new URL(url).pathname.split("/")[2] ?? ""
    if (!names.includes(name)) names.push(name)
    return names.indexOf(name) % count
  }
  const post = async (url: string, body: unknown): Promise<unknown> => {
    const response = await (count === 0 ? run : (branches[placeOf(url)]?.handler ?? assert.fail()))(request(url, body))
    if (response.status !== 200) throw new Error(await response.text())
    return response.json()
  }
  let calls = 0
  const restart = async (url: string) => {
    const place = placeOf(url)
    await Effect.runPromise(branches[place]?.kill ?? Effect.void)
    branches[place] = await Effect.runPromise(branch(run))
  }
  const play = async (call: typeof Call.Type) => {
    const messages = [{ role: "user", content: `Who is ${call.id.slice(0, 6)}?` }]
    for (let turn = 0; turn < (turns[Number(call.id.slice(5, 6))] ?? 1); turn++) {
      const [{ message }] = decodeContent(await post(`${call.baseUrl}/chat/completions`, { messages })).choices
      messages.push({ role: "assistant", content: message.content }, { role: "user", content: "And then?" })
      calls++
      if (count > 0 && calls === kill) await restart(call.baseUrl)
    }
    return { score: 1 / (1 + turns.length) }
  }
  const work = async () => {
    const call = decodeCall(await post("http://balancer:80/episodes/next", {}))
    if (call === null) return
    assert.isTrue(call.baseUrl.startsWith("http://balancer"))
    const result = await play(call).catch((error: unknown) => ({ error: String(error) }))
    await post(call.rewardUrl, result).catch(() => null)
    // It comes twice, and counts once.
    await post(call.rewardUrl, { score: 0 }).then(
      () => assert.fail("a second reward counts"),
      () => null
    )
  }
  const working = yield* Effect.forkChild(
    Effect.all([Effect.forever(Effect.promise(work)), Effect.forever(Effect.promise(work))], {
      concurrency: "unbounded"
    })
  )
  const rollout = GatewayRollout.layer({
    agent: Agents.fromConfig(defaultConfig),
    player: workers.player,
    url: "http://localhost"
  })
  const played = yield* Effect.flatMap(Rollout, ({ collect }) =>
    collect(
      turns.map((_, index) => ({
        id: Trajectory.TrajectoryId.make(`test/${index}`),
        instruction,
        question: {
          id: Question.QuestionId.make("q"),
          question: "Who?",
          goldenAnswers: ["Nobody"] as const,
          dataSource: "test"
        },
        seed: `${index}-seed`
      }))
    )
  ).pipe(Effect.provide(rollout))
  yield* Fiber.interrupt(working)
  return { played, changed: branches[0]?.changed }
})

describe("Branch", () => {
  it.effect.prop(
    "gateways beside that of a run record what it records alone, also where one is killed while agents ask it",
    { play: Play, count: Schema.Literals([1, 2, 3]) },
    ({ count, play }) =>
      Effect.gen(function* () {
        const alone = yield* playing(play, 0).pipe(Effect.provide(services(undefined), { local: true }))
        const beside = yield* playing(play, count).pipe(Effect.provide(services("none here"), { local: true }))
        assert.deepStrictEqual(beside.played, alone.played)
        for (const [index, { finishReason, turns }] of alone.played.entries())
          assert.deepStrictEqual([finishReason, turns], ["answered", play.turns[index]])
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 25 } }
  )

  it.effect("a gateway ends where the run has other settings than when it began", () =>
    Effect.gen(function* () {
      const other = JSON.stringify({ episode: { seed: "0", instruction: { text: "Say it." } }, setting: "another" })
      const { changed, handler } = yield* branch(async () => new Response(other))
      const response = yield* Effect.promise(() =>
        handler(request("http://any/episodes/e/v1/chat/completions", asking))
      )
      assert.strictEqual(response.status, 503)
      assert.include((yield* Effect.flip(changed)).message, "other settings")
    }).pipe(Effect.scoped)
  )
})
