import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { type Gateway, GatewayRollout, layer as layerGateway, routes } from "@inspo/gateway"
import type { Engine } from "@inspo/engine"
import { OutsideAgent } from "@inspo/outside"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { ActionParser, Agents, defaultConfig, layer as layerInside, Prompt, Rollout } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Layer, Ref, Schema } from "effect"
import { HttpRouter } from "effect/http"

const question: Question.Question = {
  id: Question.QuestionId.make("q"),
  question: "Where was the mayor born?",
  goldenAnswers: ["Ostrel Bay"],
  dataSource: "test"
}

const instruction = Instruction.make("Say it.", { id: "i0" })

const episodes = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: Trajectory.TrajectoryId.make(`test/${index}`),
    instruction,
    question,
    seed: `${index}`
  }))

const limits = {
  maxCalls: defaultConfig.maxTurns + 1,
  maxPromptTokens: 4_000,
  maxResponseTokens: 500,
  temperature: 1,
  topP: 1,
  tools: ["search"]
}

/** Asks a model over HTTP, and returns the content of its answer, or null where it is refused. */
type Ask = (messages: ReadonlyArray<object>, stop: ReadonlyArray<string>) => Promise<string | null>

/** A rollout whose agent is a function. */
const outside = (play: (ask: Ask, call: OutsideAgent.Call) => Promise<OutsideAgent.Reply>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const services = yield* Effect.context<Gateway | Engine>()
      const { handler } = HttpRouter.toWebHandler(routes.pipe(Layer.provide(Layer.succeedContext(services))), {
        disableLogger: true
      })
      const ask = Effect.fnUntraced(function* (call: OutsideAgent.Call) {
        const post: Ask = async (messages, stop) => {
          const body = JSON.stringify({ messages, stop, include_stop_str_in_output: true })
          const response = await handler(new Request(`${call.baseUrl}/chat/completions`, { method: "POST", body }))
          return response.status === 200 ? decodeContent(await response.json()).choices[0].message.content : null
        }
        return yield* Effect.tryPromise({
          try: () => play(post, call),
          catch: (cause) => OutsideAgent.failed("own", String(cause))
        })
      })
      return GatewayRollout.layer({
        agent: Agents.fromConfig(defaultConfig),
        player: { name: "own", ask },
        url: "http://localhost"
      })
    })
  ).pipe(Layer.provideMerge(layerGateway(limits)))

const decodeContent = Schema.decodeUnknownSync(
  Schema.Struct({
    choices: Schema.NonEmptyArray(Schema.Struct({ message: Schema.Struct({ content: Schema.String }) }))
  })
)

/** The loop of Search-R1 as a program of its own: what was found is put into the message that goes on. */
const searching = async (ask: Ask) => {
  const opening = Prompt.messages(instruction, question, defaultConfig)
  let message = ""
  for (let turn = 0; turn <= defaultConfig.maxTurns; turn++) {
    const content = await ask(
      message === "" ? opening : [...opening, { role: "assistant", content: message }],
      ActionParser.stop
    )
    if (content === null) break
    message += content
    const { content: found, kind } = ActionParser.parse(content)
    if (kind === "answer") return { output: found }
    if (turn < defaultConfig.maxTurns)
      message += `<information> ${kind === "search" ? `T: about ${found}` : defaultConfig.texts.invalidAction}</information>`
  }
  return { output: "" }
}

const obliging = Layer.succeed(Search, {
  search: (queries) =>
    Effect.succeed(queries.map((query) => [{ passage: { id: query, title: "T", text: `about ${query}` }, score: 1 }]))
})

const services = (script: ScriptedEngine.Script) =>
  Layer.mergeAll(ScriptedEngine.layer(script), obliging, layerExactMatch)

const collect = (count: number) => Effect.flatMap(Rollout, (rollout) => rollout.collect(episodes(count)))

const texts = [
  "<search> the mayor</search>",
  "<answer> Ostrel Bay</answer>",
  "<think> hm</think><search> x</search> and on",
  "no action",
  "<answer> Elsewhere</answer>"
]

describe("GatewayRollout", () => {
  it.effect.prop(
    "an agent outside has the same tokens, masks and log-probabilities as one inside that does the same",
    { choices: Schema.Array(Schema.Natural).check(Schema.isMinLength(1), Schema.isMaxLength(6)) },
    ({ choices }) =>
      Effect.gen(function* () {
        const script: ScriptedEngine.Script = (prompt) =>
          texts[(choices[prompt.split("<information>").length % choices.length] ?? 0) % texts.length] ?? ""
        const inside = yield* collect(2).pipe(Effect.provide(layerInside({}).pipe(Layer.provide(services(script)))))
        const played = yield* collect(2).pipe(Effect.provide(outside(searching).pipe(Layer.provide(services(script)))))
        for (const [index, one] of inside.entries()) {
          const other = played[index]
          for (const field of [
            "id",
            "prompt",
            "response",
            "mask",
            "logprobs",
            "reward",
            "earlier",
            "turns",
            "toolCalls"
          ] as const)
            assert.deepEqual(other?.[field], one[field], field)
          const seen = ({ transcript }: Trajectory.Trajectory) =>
            transcript.map(({ action: { kind }, ...turn }) => [
              turn.text,
              turn.observation,
              ["answer", "invalid", "message"].includes(kind) ? "text" : kind
            ])
          assert.deepEqual(other && seen(other), seen(one))
        }
      })
  )

  it.effect(
    "an episode fails, and says why, if its agent does, or does not ask the model; its own score is its reward",
    () =>
      Effect.gen(function* () {
        const handed = yield* Ref.make(0)
        const played = yield* Effect.flatMap(Rollout, (rollout) =>
          rollout.collect(episodes(4), { onFinished: (all) => Ref.update(handed, (sum) => sum + all.length) })
        ).pipe(
          Effect.provide(
            outside(async (ask, { id }) => {
              if (id === "test/0") throw new Error("out of order")
              if (id !== "test/1") await ask([{ role: "user", content: "Say it." }], [])
              return id === "test/2" ? { output: { any: "thing" }, score: 0.25 } : { output: "Ostrel Bay" }
            }).pipe(Layer.provide(services(() => "I do not know.")))
          )
        )
        assert.deepEqual(
          played.map(({ finishReason, reward }) => [finishReason, reward]),
          [
            ["failed", 0],
            ["failed", 0],
            ["answered", 0.25],
            ["answered", 1]
          ]
        )
        assert.include(played[0]?.failure ?? "", "out of order")
        assert.include(played[1]?.failure ?? "", "baseUrl")
        assert.strictEqual(yield* Ref.get(handed), 4)
      })
  )

  it.effect("an episode that a limit ended is no failure of its agent", () =>
    Effect.gen(function* () {
      const [played] = yield* collect(1).pipe(
        Effect.provide(
          outside(async (ask) => {
            while ((await ask([{ role: "user", content: "Say it." }], [])) !== null);
            throw new Error("refused")
          }).pipe(Layer.provide(services(() => "again")))
        )
      )
      assert.deepEqual([played?.finishReason, played?.turns], ["turns-exhausted", defaultConfig.maxTurns + 1])
    })
  )
})
