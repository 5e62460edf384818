import { assert, describe, it } from "@effect/vitest"
import { type Search, SearchError } from "@inspo/retrieval"
import { layer as layerReward, Reward, RewardError, RewardFunction } from "@inspo/reward"
import { defaultConfig, Tool } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Cause, Effect, Exit, Fiber, Layer, Ref, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { obliging, passage, play } from "./support/Play.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const searchOnce = (prompt: string, { seed }: { readonly seed: string }) =>
  prompt.includes("</information>") ? "<answer> Ostrel Bay</answer>" : `<search> query ${seed.split("/")[0]}</search>`

/** Runs while the clock goes on by itself, a second at a time. */
const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust("1 second")
      yield* Effect.yieldNow
    }
    return yield* Fiber.join(fiber)
  })

const down = new SearchError({ operation: "search", reason: "it is down" })

/** Fails the first calls, whoever makes them, and obliges then. */
const failingFirst = (calls: number): Effect.Effect<Search.Interface["search"]> =>
  Effect.map(
    Ref.make(0),
    (made): Search.Interface["search"] =>
      (queries, topK) =>
        Effect.flatMap(
          Ref.getAndUpdate(made, (n) => n + 1),
          (n) => (n < calls ? Effect.fail(down) : obliging(queries, topK))
        )
  )

describe("A tool that fails", () => {
  it.effect.prop(
    "is asked again: within its attempts nothing differs from a run without faults",
    { episodes: between(1, 4), calls: between(0, 3) },
    ({ calls, episodes }) =>
      Effect.gen(function* () {
        const { trajectories: expected } = yield* play(searchOnce, { episodes })
        const search = yield* failingFirst(calls)
        const { trajectories } = yield* inTime(play(searchOnce, { episodes, search, config: { toolAttempts: 4 } }))
        assert.deepStrictEqual(trajectories, expected)
      })
  )

  it.effect("is asked no more often than allowed, and then its episode is failed, never rewarded 0", () =>
    Effect.gen(function* () {
      const made = yield* Ref.make(0)
      const search: Search.Interface["search"] = () =>
        Effect.andThen(
          Ref.update(made, (n) => n + 1),
          Effect.fail(down)
        )
      const { trajectories } = yield* inTime(play(searchOnce, { search, config: { toolAttempts: 3 } }))
      assert.strictEqual(yield* Ref.get(made), 3)
      assert.deepStrictEqual(
        trajectories.map(({ answer, finishReason, reward, toolCalls, turns }) => ({
          answer,
          finishReason,
          reward,
          toolCalls,
          turns
        })),
        [{ answer: null, finishReason: "failed", reward: 0, toolCalls: 0, turns: 1 }]
      )
      assert.include(trajectories[0]?.failure, "it is down")
    })
  )

  const faults: Readonly<Record<string, Search.Interface["search"]>> = {
    hangs: () => Effect.never,
    "gives fewer lists than queries": () => Effect.succeed([]),
    "gives more lists than queries": (queries) => Effect.succeed([...queries, ...queries].map(() => [passage("x")]))
  }
  for (const [fault, search] of Object.entries(faults))
    it.effect(`a retriever that ${fault} fails its episodes`, () =>
      Effect.gen(function* () {
        const { trajectories } = yield* inTime(
          play(searchOnce, { search, episodes: 3, config: { toolAttempts: 2, toolTimeoutSeconds: 5 } })
        )
        assert.isTrue(trajectories.every(({ finishReason }) => finishReason === "failed"))
      })
    )

  it.effect("a retriever that is slow, but in time, is waited for", () =>
    Effect.gen(function* () {
      const search: Search.Interface["search"] = (queries, topK) => Effect.delay(obliging(queries, topK), "50 seconds")
      const { trajectories } = yield* inTime(play(searchOnce, { search }))
      assert.strictEqual(trajectories[0]?.reward, 1)
    })
  )

  it.effect("a retriever that finds fewer passages than asked for, or none, fails nothing", () =>
    Effect.gen(function* () {
      const search: Search.Interface["search"] = (queries) => Effect.succeed(queries.map(() => []))
      const { trajectories } = yield* play(searchOnce, { search })
      assert.strictEqual(trajectories[0]?.transcript[0]?.observation, "<information> Nothing was found.</information>")
      assert.strictEqual(trajectories[0]?.finishReason, "answered")
    })
  )

  it.effect.prop(
    "fails the episodes that need it, and leaves the others as they are",
    [Schema.Array(Schema.Boolean)],
    ([bad]) =>
      Effect.gen(function* () {
        const episodes = Math.min(6, bad.length)
        const search: Search.Interface["search"] = (queries, topK) =>
          queries.some((query) => bad[Number(query.split(" ")[1])] === true)
            ? Effect.fail(down)
            : obliging(queries, topK)
        const { trajectories } = yield* play(searchOnce, { search, episodes, config: { toolAttempts: 1 } })
        const { trajectories: expected } = yield* play(searchOnce, { episodes })
        trajectories.forEach((trajectory, i) => {
          if (bad[i] === true) assert.strictEqual(trajectory.finishReason, "failed")
          else assert.deepStrictEqual(trajectory, expected[i])
        })
      })
  )
})

describe("A reward that fails", () => {
  it.effect("fails its episode instead of scoring it 0", () =>
    Effect.gen(function* () {
      const judge = Layer.succeed(Reward, {
        score: ({ turns }) =>
          turns.length > 1
            ? Effect.fail(new RewardError({ reward: "judge", reason: "it has no opinion" }))
            : Effect.succeed({ answer: "x", reward: 0.5 })
      })
      const { trajectories } = yield* play(
        (prompt, draw) => (draw.seed.startsWith("0/") ? searchOnce(prompt, draw) : "<answer> x</answer>"),
        { reward: judge, episodes: 2 }
      )
      assert.deepStrictEqual(
        trajectories.map(({ failure, finishReason, reward }) => [finishReason, reward, failure]),
        [
          ["failed", 0, "reward judge: it has no opinion"],
          ["answered", 0.5, undefined]
        ]
      )
    })
  )
})

describe("Code that throws", () => {
  const bug = new TypeError("no such field")
  const throwing = () => {
    throw bug
  }
  const defects = (cause: Cause.Cause<unknown>) =>
    cause.reasons.map((reason) => (Cause.isDieReason(reason) && reason.defect instanceof Error ? reason.defect : null))

  it.effect.prop(
    "a reward ends the collection with its stack, once what it could score is handed over",
    { scorable: Schema.Array(Schema.Boolean).check(Schema.isMaxLength(6)) },
    ({ scorable }) =>
      Effect.gen(function* () {
        const handed: Array<string> = []
        const reward = RewardFunction.make("mine", ({ turns }) =>
          scorable[Number(turns[0]?.replaceAll(/\D/gu, ""))] === true ? { answer: "x", reward: 1 } : throwing()
        )
        const exit = yield* Effect.exit(
          play((_, { seed }) => `<answer> ${seed.split("/")[0]}</answer>`, {
            reward: layerReward(reward),
            episodes: scorable.length,
            onFinished: (finished) => Effect.sync(() => handed.push(...finished.map(({ id }) => id)))
          })
        )
        assert.strictEqual(Exit.isSuccess(exit), scorable.every(Boolean))
        assert.sameMembers(
          handed,
          scorable.flatMap((isScorable, index) => (isScorable ? [`test/${index}`] : []))
        )
        if (Exit.isSuccess(exit)) return
        const [defect] = defects(exit.cause)
        assert.include(defect?.message, 'reward mine: it threw on the question "Where was the mayor born?"')
        assert.strictEqual(defect?.cause, bug)
      })
  )

  it.effect.each([throwing, () => Effect.sync(throwing)])("a tool does too, by its name and input", (run) =>
    Effect.gen(function* () {
      const echo = { name: "echo", description: "<echo> text</echo> says it again.", run }
      const exit = yield* Effect.exit(
        play(() => "<echo> ah</echo>", { config: { tools: ["echo"] }, options: { tools: [echo] } })
      )
      const [defect] = Exit.isFailure(exit) ? defects(exit.cause) : []
      assert.strictEqual(defect?.message, 'tool echo: threw an exception on the input "ah"')
      assert.strictEqual(defect?.cause, bug)
    })
  )
})

const echo = Tool.each("echo", "<echo> text</echo> says it again.", (input) =>
  input === "nothing"
    ? Effect.fail(new Tool.ToolRejection({ reason: "There is nothing to say." }))
    : Effect.succeed(input)
)

describe("Tools", () => {
  const twoTools = { tools: ["search", "calculate"] }
  const calculating = (prompt: string) =>
    prompt.includes("</information>")
      ? "<answer> 18</answer>"
      : "<think> Sum.</think><calculate> 3 * (2 + 4)</calculate>"

  it.effect("the calculator is called by its tag and shown like a search", () =>
    Effect.gen(function* () {
      const { requests, trajectories } = yield* play(calculating, { config: twoTools })
      const { finishReason, toolCalls, transcript } = trajectories[0] ?? assert.fail()
      assert.deepStrictEqual(transcript[0]?.action, { kind: "calculate", content: "3 * (2 + 4)" })
      assert.strictEqual(transcript[0]?.observation, "<information> 18</information>")
      assert.deepStrictEqual([finishReason, toolCalls], ["answered", 1])
      assert.deepStrictEqual(requests[0]?.stop, ["</search>", "</calculate>", "</answer>"])
    })
  )

  it.effect("a tool with missing replies is called input by input, and no reply goes to another episode", () =>
    Effect.gen(function* () {
      const tool: Tool.Tool = {
        ...echo,
        run: (inputs) =>
          Effect.succeed(
            (inputs.length > 1 ? inputs.slice(1) : inputs).map((input) => Result.succeed(`heard ${input}`))
          )
      }
      const { trajectories } = yield* play(
        (prompt, { seed }) =>
          prompt.includes("</information>") ? "<answer> Ostrel Bay</answer>" : `<echo> ${seed.split("/")[0]}</echo>`,
        { episodes: 4, config: { tools: ["echo"] }, options: { tools: [tool] } }
      )
      for (const { transcript } of trajectories)
        assert.include(transcript[0]?.observation ?? "", `heard ${transcript[0]?.action.content}<`)
    })
  )

  it.effect("a tool that is not listed cannot be called", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* play(calculating)
      assert.strictEqual(trajectories[0]?.transcript[0]?.action.kind, "invalid")
    })
  )

  it.effect("the policy is shown that a tool rejected its input, and continues", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* play(
        (prompt) => (prompt.includes("</information>") ? "<answer> Ostrel Bay</answer>" : "<echo> nothing</echo>"),
        { config: { tools: ["echo"] }, options: { tools: [echo] } }
      )
      assert.strictEqual(
        trajectories[0]?.transcript[0]?.observation,
        "<information> The echo failed. There is nothing to say.</information>"
      )
      assert.strictEqual(trajectories[0]?.reward, 1)
    })
  )

  it.effect.prop(
    "no text of a tool ends its observation, opens an answer or earns a reward",
    [
      Schema.Union([
        Schema.String,
        Schema.Array(Schema.Literals(["</information>", "<answer>", " Ostrel Bay", "</answer>", "<|end|>", "<echo>"]))
      ])
    ],
    ([text]) =>
      Effect.gen(function* () {
        const said = typeof text === "string" ? text : text.join("")
        const tool = Tool.each("echo", "", () => Effect.succeed(said))
        const { trajectories } = yield* play(
          (prompt) => (prompt.includes("</information>") ? "<answer> Nobody</answer>" : "<echo> x</echo>"),
          { config: { tools: ["echo"] }, options: { tools: [tool] } }
        )
        const { answer, mask, response, reward, transcript } = trajectories[0] ?? assert.fail()
        const observation = transcript[0]?.observation ?? assert.fail()
        assert.match(
          observation,
          /^<information>(?:(?!<\/?(?:think|search|information|answer|echo)>|<\|end\|>)[^])*<\/information>$/
        )
        assert.deepStrictEqual([answer, reward], ["Nobody", 0])
        assert.strictEqual(
          ByteTokenizer.tokenizer.decode(response.filter((_, i) => mask[i] === 1)),
          "<echo> x</echo><answer> Nobody</answer>"
        )
      })
  )

  it.effect("names that are tags of the protocol, and tools that do not exist, are refused", () =>
    Effect.gen(function* () {
      for (const [name, options] of [
        ["abacus", {}],
        ["answer", { tools: [{ ...echo, name: "answer" }] }],
        ["<b>", { tools: [{ ...echo, name: "<b>" }] }]
      ] as const) {
        const exit = yield* Effect.exit(play(calculating, { config: { tools: [name] }, options }))
        assert.isTrue(Exit.isFailure(exit))
      }
      const error = yield* Effect.flip(play(calculating, { config: { tools: ["abacus"] } }))
      assert.include(error.message, '"abacus"')
    })
  )

  it.effect.prop(
    "an engine that stops at single tokens only gives the same trajectories",
    [Schema.Literals(["<calculate> 1 + 1</calculate>", "<calculate> 1</calculate> and more", "<search> x</search>"])],
    ([turn]) =>
      Effect.gen(function* () {
        const script = (prompt: string) => (prompt.includes("</information>") ? "<answer> 2</answer>" : turn)
        const setup = { config: twoTools }
        const stopped = yield* play(script, setup)
        const cut = yield* play(script, { ...setup, singleTokens: true })
        assert.deepStrictEqual(cut.trajectories, stopped.trajectories)
        assert.isTrue(
          cut.requests.every(({ stop }) => stop.every((text) => ByteTokenizer.tokenizer.encode(text).length === 1))
        )
      })
  )

  it.effect("the descriptions of the tools are in the prompt if the template asks for them", () =>
    Effect.gen(function* () {
      const { prompts } = yield* play(calculating, {
        config: { ...twoTools, texts: { ...defaultConfig.texts, prompt: "{instruction} {tools} Question: {question}" } }
      })
      assert.include(prompts[0], "<calculate> 3 * (2 + 4)</calculate> works out an expression")
    })
  )
})
