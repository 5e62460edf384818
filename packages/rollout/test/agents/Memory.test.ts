import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { defaultConfig } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect, Schema } from "effect"
import { request } from "../../src/agents/Memory.ts"
import { passage, play } from "../support/Play.ts"

const turn = (seed: string) => Number(seed.split("/").at(-1))
const asked = `<|user|> Say it. Question: Where was the mayor born? ${request}`
const { decode } = ByteTokenizer.tokenizer

/** Turns of a policy that searches for its number of search, and prunes. */
const Turn = Schema.Literals(["search", "prune 1", "prune 2, 3", "prune 1 2", "prune 9", "prune", "nothing"])

describe("memory", () => {
  it.effect("shows after a prune the summaries, and the calls and results that are left, and nothing else", () =>
    Effect.gen(function* () {
      const texts = [
        "<think> Who?</think><search> mayor</search>",
        "<search> Marlen Tovik</search>",
        "<prune> 1: The mayor <b>is Tovik.</prune>",
        "<prune> 1: Again.</prune>",
        "<prune> 2, 3: It is Ostrel Bay.</prune>",
        "<answer> Ostrel Bay</answer>"
      ]
      const { prompts, trajectories } = yield* play((_, { seed }) => texts[turn(seed)] ?? "", {
        config: { agent: "memory", maxTurns: 5 }
      })
      const second = "<search> Marlen Tovik</search><information> 2: T: about Marlen Tovik</information>"
      const first = "<search> mayor</search><information> 1: T: about mayor</information>"
      const kept = `${asked} Context: ${second}<information> 3: The mayor (b)is Tovik.</information><|assistant|>`
      const refused =
        "<information> The prune failed. Name the numbers of results that you see, then a colon and a summary that fits.</information>"
      assert.deepStrictEqual(prompts, [
        `${asked}<|assistant|>`,
        `${asked}<|assistant|><think> Who?</think>${first}`,
        `${asked}<|assistant|><think> Who?</think>${first}${second}`,
        kept,
        `${kept}${texts[3]}${refused}`,
        `${asked} Context: <information> 4: It is Ostrel Bay.</information><|assistant|>`
      ])
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        Trajectory.segments(one).map(({ mask, response }) => decode(response.filter((_, at) => mask[at] === 1))),
        [texts.slice(0, 3).join(""), texts.slice(3, 5).join(""), texts[5]]
      )
      assert.deepStrictEqual(
        one.transcript.map(({ action }) => action.kind),
        ["search", "search", "prune", "prune", "prune", "answer"]
      )
      assert.deepStrictEqual([one.reward, one.toolCalls, one.finishReason], [1, 2, "answered"])
    })
  )

  it.effect.prop(
    "never shows again what was pruned, and trains each token once",
    { turns: Schema.Array(Turn).check(Schema.isMaxLength(8)) },
    ({ turns }) =>
      Effect.gen(function* () {
        const text = (index: number) => {
          const [name = "", ...ids] = (turns[index] ?? "answer it").split(" ")
          if (name === "prune") return `<prune> ${ids.join(" ")}: summary of turn ${index}</prune>`
          return name === "search"
            ? `<search> query of turn ${index}</search>`
            : "<answer> Ostrel Bay</answer>".slice(name === "answer" ? 0 : 1)
        }
        const { prompts, trajectories } = yield* play((_, { seed }) => text(turn(seed)), {
          config: { agent: "memory", maxTurns: 8 }
        })
        const [one = assert.fail()] = trajectories
        const gone = new Set<string>()
        const results = new Map<number, string>()
        for (const [index, { action, observation }] of one.transcript.entries()) {
          for (const words of gone) assert.notInclude(prompts[index], words)
          const id = Number(/^<information> (\d+): /u.exec(observation ?? "")?.[1] ?? 0)
          if (action.kind === "prune" && id > 0)
            for (const pruned of action.content.split(":")[0]?.match(/\d+/gu) ?? []) {
              gone.add(results.get(Number(pruned)) ?? assert.fail("an unknown number was pruned"))
              results.delete(Number(pruned))
            }
          assert.isFalse(results.has(id))
          if (id > 0) results.set(id, `<information> ${id}: `)
        }
        const written = Trajectory.segments(one).map(({ mask, response }) =>
          decode(response.filter((_, at) => mask[at] === 1))
        )
        assert.strictEqual(written.join(""), one.transcript.map((turn) => turn.text).join(""))
      })
  )

  it.effect.prop(
    "refuses a prune that leaves no prompt, and does one in a context that has no room to refuse it",
    { maxPromptTokens: Schema.Int.check(Schema.isBetween({ minimum: 150, maximum: 500 })) },
    ({ maxPromptTokens }) =>
      Effect.gen(function* () {
        const texts = [
          "<search> mayor</search>",
          `<prune> 1: ${"long ".repeat(50)}</prune>`,
          "<answer> Ostrel Bay</answer>"
        ]
        const script = (_: string, { seed }: { readonly seed: string }) => texts[turn(seed)] ?? ""
        const config = { agent: "memory", maxPromptTokens, maxResponseTokens: 300 } as const
        const roomy = yield* play(script, { config })
        assert.strictEqual(roomy.trajectories[0]?.finishReason, "answered")
        const size = roomy.requests[1]?.prompt.length ?? assert.fail()
        const tight = yield* play(script, { config, contextLength: size + 270 })
        if (Trajectory.segments(roomy.trajectories[0] ?? assert.fail()).length > 1)
          assert.strictEqual(tight.trajectories[0]?.finishReason, "answered")
      })
  )

  it.effect.prop(
    "is search-r1 on numbered results while nothing is pruned",
    {
      texts: Schema.NonEmptyArray(Schema.Literals(["<search> a</search>", "No tags.", "<answer> Ostrel Bay</answer>"]))
    },
    ({ texts }) =>
      Effect.gen(function* () {
        const one = (agent: "memory" | "search-r1") => {
          let found = 0
          return play((_, { seed }) => texts[turn(seed) % texts.length] ?? "", {
            config: {
              agent,
              texts: {
                ...defaultConfig.texts,
                ...(agent === "memory"
                  ? { passage: "{text}" }
                  : { passage: "{title}: {text}", prompt: `${defaultConfig.texts.prompt} ${request}` })
              }
            },
            search: (queries) => Effect.succeed(queries.map((query) => [passage(`about ${query}`, `${++found}`)]))
          })
        }
        assert.deepStrictEqual((yield* one("memory")).trajectories, (yield* one("search-r1")).trajectories)
      })
  )
})
