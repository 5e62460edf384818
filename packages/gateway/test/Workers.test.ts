/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Engine } from "@inspo/engine"
import { type Gateway, GatewayRollout, layer as layerGateway, routes, Workers } from "@inspo/gateway"
import { layerExactMatch } from "@inspo/reward"
import { Agents, defaultConfig, Rollout } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"

/** What the workers of an episode do, the second where the first is lost. */
const moves = [
  ["output"],
  ["score"],
  ["error"],
  ["misspelt"],
  ["twice"],
  ["lost", "output"],
  ["lost", "lost"],
  ["late", "score"]
] as const

const instruction = Instruction.make("Say it.", { id: "i0" })
const episodes = moves.map((_, index) => ({
  id: Trajectory.TrajectoryId.make(`test/${index}`),
  instruction,
  question: {
    id: Question.QuestionId.make("q"),
    question: "Where was the mayor born?",
    goldenAnswers: ["Ostrel Bay"] as const,
    dataSource: "test"
  },
  seed: `${index}`
}))

const limits = { maxCalls: 4, maxPromptTokens: 4_000, maxResponseTokens: 500, temperature: 1, topP: 1, tools: [] }
const Call = Schema.Struct({
  id: Schema.String,
  attempt: Schema.Int,
  baseUrl: Schema.String,
  rewardUrl: Schema.String
})
const decodeCall = Schema.decodeUnknownSync(Schema.NullOr(Call))

const play = Effect.gen(function* () {
  const services = yield* Effect.context<Gateway | Engine>()
  const workers = yield* Workers.make({ name: "workers", timeout: "3 seconds" })
  const served = Layer.merge(routes, workers.routes).pipe(Layer.provide(Layer.succeedContext(services)))
  const { dispose, handler } = HttpRouter.toWebHandler(served, { disableLogger: true })
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const refused: Array<string> = []
  const post = async (url: string, body: unknown) => {
    const request = new Request(url, { method: "POST", body: JSON.stringify(body), headers: { host: "gateway:8200" } })
    const response = await handler(request)
    if (response.status !== 200) refused.push(`${new URL(url).pathname.split("/").at(-1)} ${response.status}`)
    return response.json()
  }
  const late: Array<typeof Call.Type> = []

  const work = async () => {
    const call = decodeCall(await post("http://gateway:8200/episodes/next", {}))
    if (call === null) return
    assert.isTrue(call.rewardUrl.startsWith("http://gateway:8200/episodes/"))
    const number = Number(/\d+/u.exec(call.id)?.[0])
    const move = moves[number]?.[call.attempt]
    const ask = () => post(`${call.baseUrl}/chat/completions`, { messages: [{ role: "user", content: `n${number}n` }] })
    await ask()
    if (move === "late") late.push(call)
    const [old] = late
    if (call.attempt === 1 && old !== undefined && number === 7) {
      await post(`${old.baseUrl}/chat/completions`, { messages: [{ role: "user", content: "too late" }] })
      await post(old.rewardUrl, { output: "Ostrel Bay", score: 1 })
    }
    if (move === "output" || move === "twice") await post(call.rewardUrl, { output: "Ostrel Bay" })
    if (move === "twice") await post(call.rewardUrl, { output: "Elsewhere" })
    if (move === "score") await post(call.rewardUrl, { score: 0.25 })
    if (move === "error") await post(call.rewardUrl, { error: "out of order" })
    if (move === "misspelt") {
      for (const [body, said] of [
        [{}, "output is absent"],
        [{ output: null, score: null, scor: 1 }, "scor is 1"],
        [{ score: 1.5 }, "score is 1.5"],
        [{ score: "1" }, 'score is \\"1\\"'],
        [{ score: null, usd: 0.1 }, "output is absent"],
        [[], "body is []"]
      ] as const)
        assert.include(JSON.stringify(await post(call.rewardUrl, body)), said)
      await post(call.rewardUrl, { id: call.id, score: 0.5, error: null })
    }
  }

  const rollout = GatewayRollout.layer({
    agent: Agents.fromConfig(defaultConfig),
    player: workers.player,
    url: "http://localhost"
  })
  const working = yield* Effect.forkChild(Effect.forever(Effect.promise(work)))
  const played = yield* Effect.flatMap(Rollout, ({ collect }) => collect(episodes)).pipe(Effect.provide(rollout))
  yield* Fiber.interrupt(working)
  return { played, refused, decode: (yield* Engine).tokenizer.decode }
})

describe("Workers", () => {
  it.live(
    "what a worker sends counts once, for its own episode; one that is lost is replaced once, and changes nothing later",
    () =>
      Effect.gen(function* () {
        const { decode, played, refused } = yield* play
        assert.deepEqual(
          played.map(({ finishReason, reward }) => [finishReason, reward]),
          [
            ["answered", 1],
            ["answered", 0.25],
            ["failed", 0],
            ["answered", 0.5],
            ["answered", 1],
            ["answered", 1],
            ["failed", 0],
            ["answered", 0.25]
          ]
        )
        assert.include(played[2]?.failure ?? "", "out of order")
        assert.include(played[6]?.failure ?? "", "in time")
        const misspelt = Array<string>(6).fill("reward 400")
        assert.sameMembers(refused, ["reward 404", "completions 404", "reward 404", ...misspelt])
        for (const [index, one] of played.entries()) {
          assert.lengthOf(Trajectory.segments(one), 1)
          assert.include(decode(one.prompt), `n${index}n`)
        }
      }).pipe(
        Effect.scoped,
        Effect.provide([
          layerGateway(limits).pipe(Layer.provideMerge(ScriptedEngine.layer(() => "I know."))),
          layerExactMatch
        ])
      ),
    30_000
  )
})
