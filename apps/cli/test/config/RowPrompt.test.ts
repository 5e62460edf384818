import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option, Schema } from "effect"
import { fromInput } from "../../src/config/Input.ts"

const row = (content: string, index: number) =>
  JSON.stringify({
    data_source: "nq",
    prompt: [{ role: "user", content }],
    reward_model: { ground_truth: { target: ["Paris"] } },
    extra_info: { split: "train", index }
  })

const withFile = <A, E>(
  lines: ReadonlyArray<string>,
  use: (file: string) => Effect.Effect<A, E, NodeServices.NodeServices>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/rows.jsonl`
    yield* fs.writeFileString(file, `${lines.join("\n")}\n`)
    return yield* use(file)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const configOf = (file: string) =>
  fromInput({
    preset: "paper",
    file: Option.none(),
    set: [`seedInstruction={rows: ${file}}`, `rollout.texts.prompt={rows: ${file}}`],
    seed: Option.none()
  })

const Words = Schema.NonEmptyArray(
  Schema.Literals(["Think", "first.", "<search> query </search>", "{question}", "Fragé:", "a\nb"])
)
const Space = Schema.Literals([" ", "\n", "\n\n", "  "])
const End = Schema.Literals(["", "\n", " \n"])
const Asked = Schema.NonEmptyArray(Schema.Literals(["Who is it?", "When\nwas it?", "Question: where?"]))

describe("the prompts of rows", () => {
  it.effect.prop(
    "give back, as instruction and template, what they were put together from",
    [Words, Space, End, Asked],
    ([words, space, end, asked]) => {
      const instruction = words.join(" ")
      const template = `{instruction}${space}Question: {question}${end}`
      const prompt = (question: string) =>
        template.replace("{question}", () => question).replace("{instruction}", () => instruction)
      return withFile(
        asked.map((question, index) => row(prompt(question), index)),
        (file) =>
          Effect.map(configOf(file), (config) => {
            assert.strictEqual(config.seedInstruction, instruction)
            assert.strictEqual(config.rollout.texts.prompt, template)
          })
      )
    }
  )

  it.effect.each([
    ["differ", ["Think. Question: Who?\n", "Think hard. Question: Who?\n"], "begin or end differently"],
    ["end differently", ["Think. Question: Who?\n", "Think. Question: When?"], "begin or end differently"],
    ["have no instruction", ["Question: Who?"], "expected an instruction"]
  ] as const)("are refused where they %s", ([, prompts, problem]) =>
    withFile(prompts.map(row), (file) =>
      Effect.map(Effect.flip(configOf(file)), ({ message }) => assert.include(message, problem))
    )
  )
})
