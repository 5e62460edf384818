import { assert, describe, it } from "@effect/vitest"
import { SearchError } from "@inspo/retrieval"
import { defaultConfig, SearchR1 } from "@inspo/rollout"
import { ByteTokenizer, ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Schema } from "effect"
import { passage, play } from "../support/Play.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Fragment = Schema.Literals([
  "<search>",
  "</search>",
  "<answer>",
  "</answer>",
  "<think>",
  " Ostrel Bay",
  "\n",
  "é",
  "<|end|>"
])
const Text = Schema.Union([Schema.String, Schema.Array(Fragment)])
const text = (value: typeof Text.Type) => (typeof value === "string" ? value : value.join(""))

describe("SearchR1", () => {
  it.prop(
    "a cut text begins the text, ends with its only closing tag, and is cut once and for all",
    [Text],
    ([value]) => {
      const whole = text(value)
      const cut = SearchR1.cut(whole)
      assert.isTrue(whole.startsWith(cut))
      assert.strictEqual(SearchR1.cut(cut), cut)
      if (whole.includes("</search>")) assert.strictEqual(cut.indexOf("</search>"), cut.length - "</search>".length)
      else if (whole.includes("</answer>"))
        assert.strictEqual(cut.indexOf("</answer>"), cut.length - "</answer>".length)
      else assert.strictEqual(cut, whole)
    }
  )

  it.prop("an action is a closed pair of tags, anywhere in the text", [Text], ([value]) => {
    const { content, kind } = SearchR1.parse(text(value))
    if (kind === "invalid") assert.strictEqual(content, "")
    else {
      assert.include(text(value), `<${kind}>`)
      assert.include(text(value), content)
      assert.notInclude(content, `</${kind}>`)
    }
  })

  it.prop("preparing a question twice changes nothing", [Schema.String], ([value]) => {
    const once = SearchR1.question(value)
    assert.strictEqual(SearchR1.question(once), once)
    assert.isTrue(once.endsWith("?"))
  })

  it("strips a question as Python does", () => {
    assert.strictEqual(SearchR1.question("\u0085\x1c who is it \x1f"), "who is it?")
    assert.strictEqual(SearchR1.question("\uFEFFwho"), "\uFEFFwho?")
  })

  it("writes a passage without a known row with its title in quotes", () => {
    assert.strictEqual(
      SearchR1.passagesText([{ id: "a", title: "Ulva", text: "A river.\nLong." }]),
      'Doc 1(Title: "Ulva") A river.\nLong.\n'
    )
  })
})

describe("search-r1-exact", () => {
  const Config = Schema.Struct({
    maxTurns: between(0, 3),
    maxResponseTokens: between(1, 60),
    maxObservationTokens: between(2, 80),
    maxPromptTokens: between(60, 200),
    maxStartTokens: between(1, 100)
  })

  it.effect.prop(
    "writes what it cut, keeps within the context, and takes the trainer's log-probabilities for actions alone",
    { config: Config, texts: Schema.NonEmptyArray(Text), contextLength: between(70, 400) },
    ({ config, contextLength, texts }) =>
      Effect.gen(function* () {
        let written = 0
        const { requests, trajectories } = yield* play(() => text(texts[written++ % texts.length] ?? ""), {
          config: { ...config, agent: "search-r1-exact" },
          contextLength
        })
        const { logprobs, mask, prompt, response, transcript } = trajectories[0] ?? assert.fail()
        assert.isAtMost(prompt.length + response.length, contextLength)
        assert.isAtMost(response.length, config.maxPromptTokens)
        assert.isAtMost(prompt.length, config.maxStartTokens)
        assert.isTrue(
          transcript
            .map(({ observation, text }) => text + (observation ?? ""))
            .join("")
            .startsWith(ByteTokenizer.tokenizer.decode(response).replace(/\uFFFD+$/, ""))
        )
        assert.deepStrictEqual([mask.length, logprobs.length], [response.length, response.length])
        const [first, ...later] = requests
        if (first !== undefined) assert.deepStrictEqual(prompt, first.prompt.slice(-config.maxStartTokens))
        later.forEach(({ prompt: seen, stop }, turn) => {
          assert.deepStrictEqual(stop, [])
          assert.isAtMost(seen.length, config.maxPromptTokens)
          // The instruction is lost first.
          const written = transcript
            .slice(0, turn + 1)
            .flatMap(({ observation, text }) => [
              ...ByteTokenizer.tokenizer.encode(text),
              ...ByteTokenizer.tokenizer.encode(observation ?? "")
            ])
          const whole = ByteTokenizer.tokenizer.decode([...(first?.prompt ?? []), ...written])
          assert.isTrue(whole.endsWith(ByteTokenizer.tokenizer.decode(seen).replace(/^\uFFFD+/, "")))
        })
        response.forEach((token, i) =>
          assert.strictEqual(logprobs[i], mask[i] === 1 ? ScriptedEngine.logprob(token) : 0)
        )
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "keeps its limits however it ends",
    {
      config: Config,
      contextLength: between(40, 400),
      isDown: Schema.Boolean,
      demonstration: Schema.UndefinedOr(Schema.Array(Text))
    },
    ({ config, contextLength, demonstration, isDown }) =>
      Effect.gen(function* () {
        const down = () => Effect.fail(new SearchError({ operation: "search", reason: "it is down" }))
        const { trajectories } = yield* play(() => "<search> a query of some length</search>", {
          config: { ...config, agent: "search-r1-exact", toolAttempts: 1 },
          contextLength,
          ...(isDown ? { search: down } : {}),
          ...(demonstration === undefined ? {} : { demonstration: demonstration.map(text) })
        })
        const { prompt, response } = trajectories[0] ?? assert.fail()
        assert.isAtMost(prompt.length, config.maxStartTokens)
        assert.isAtMost(response.length, config.maxPromptTokens)
        assert.isAtMost(prompt.length + response.length, Math.max(contextLength, prompt.length))
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("shows results with their tags, as the reference does, and the configured texts", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* play(
        (prompt) =>
          prompt.endsWith("Again!")
            ? "<answer> x</answer>"
            : prompt.includes("information")
              ? "what?"
              : "<search>q</search> more",
        {
          config: { agent: "search-r1-exact", texts: { ...defaultConfig.texts, invalidAction: "Again!" } },
          search: (queries) => Effect.succeed(queries.map(() => [passage("</information> b ", "a"), passage("c", "d")]))
        }
      )
      assert.deepStrictEqual(
        trajectories[0]?.transcript.map(({ observation, text }) => [text, observation]),
        [
          [
            "<search>q</search>",
            '\n\n<information>Doc 1(Title: "a") </information> b \nDoc 2(Title: "d") c</information>\n\n'
          ],
          ["what?", "Again!"],
          ["<answer> x</answer>", null]
        ]
      )
    })
  )
})
