/** Each agent of the registry on an engine, on a server of the Tinker protocol over this engine, and with a chat model. */
import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import {
  AgentName,
  Agents,
  ChatPolicy,
  ChatRollout,
  defaultConfig,
  type Episode,
  layer,
  Rollout,
  type RolloutConfig
} from "@inspo/rollout"
import { ByteTokenizer, ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Layer } from "effect"
import * as InMemory from "../packages/engine-tinker/test/support/InMemory.ts"
import { choice } from "../packages/rollout/test/support/Agents.ts"

const texts = [
  "Who? <search> mayor</search>",
  "<report> It is a town.</report><search> Ostrel Bay</search>",
  "<prune> 1: the mayor</prune>",
  "<answer> Ostrel Bay</answer>",
  " A thought without an end.",
  "<instant> <answer> Ostrel Bay</answer>",
  "<ask> Where?</ask>",
  "<split> Who? | Where?</split>",
  "<search> Marlen Tovik</search>"
]

/** A policy that writes one text after the other, whatever it reads. */
const writing = (first: number) => {
  let written = first
  return () => texts[written++ % texts.length] ?? ""
}

const instruction = Instruction.make("Say it.", { id: "i0" })

const episode: Episode = {
  id: Trajectory.TrajectoryId.make("train/1/0/0"),
  instruction,
  question: {
    id: Question.QuestionId.make("q"),
    question: "Where was the mayor born?",
    goldenAnswers: ["Ostrel Bay"],
    dataSource: "test"
  },
  seed: "0"
}

const surroundings = Layer.mergeAll(
  Layer.succeed(Search, {
    search: (queries) =>
      Effect.succeed(queries.map((query) => [{ passage: { id: query, title: "T", text: `about ${query}` }, score: 1 }]))
  }),
  layerExactMatch
)

const configOf = (agent: AgentName): RolloutConfig => ({ ...defaultConfig, agent: choice(agent), maxTurns: 3 })

/** An episode for each text that the policy can begin with. */
const played = <E>(rolloutOf: (write: () => string) => Layer.Layer<Rollout, E>) =>
  Effect.forEach([...texts.keys()], (first) =>
    Rollout.use(({ collect }) => collect([{ ...episode, member: first }])).pipe(
      Effect.map(([trajectory = assert.fail()]) => trajectory),
      Effect.provide(rolloutOf(writing(first)), { local: true })
    )
  )

const onEngine = (agent: AgentName) =>
  played((write) => layer(configOf(agent)).pipe(Layer.provide([ScriptedEngine.layer(write), surroundings])))

const client = TinkerEngine.layer({
  url: "http://inspo.test",
  tokenizer: ByteTokenizer.tokenizer,
  contextLength: 4096
})

const onTinker = (agent: AgentName) =>
  played((write) => {
    const server = Layer.provide(InMemory.layer({ tokenizer: "folder" }), ScriptedEngine.layer(write))
    return layer(configOf(agent)).pipe(Layer.provide([Layer.provide(client, server), surroundings]))
  })

/** With a chat model that is not stopped by texts. */
const onChat = (agent: AgentName) =>
  played((write) =>
    ChatRollout.layer(configOf(agent)).pipe(
      Layer.provide([
        Layer.succeed(ChatPolicy.ChatPolicy, {
          profile: { name: "chat", model: "m", fingerprint: "chat:m", contextLength: 4096, concurrency: 1 },
          atMost: () => ({ calls: 1, tokens: 100, usd: 1 }),
          countTokens: (text: string) => ByteTokenizer.tokenizer.encode(text).length,
          write: () =>
            Effect.sync(() => ({ text: write(), input: 1, output: 1, spent: { calls: 1, tokens: 2, usd: 1 } }))
        }),
        surroundings
      ])
    )
  )

/** The agents by how they act; one outside asks the gateway of an engine. */
const acting = (protocol: "tokens" | undefined) =>
  AgentName.literals.filter(
    (name) => name !== "outside" && Agents.fromConfig({ agent: choice(name) }).protocol === protocol
  )

/** The protocol has log-probabilities of 32 bits. */
const rounded = (trajectory: Trajectory.Trajectory) => ({
  ...trajectory,
  logprobs: trajectory.logprobs.map(Math.fround),
  earlier: (trajectory.earlier ?? []).map((segment) => ({ ...segment, logprobs: segment.logprobs.map(Math.fround) }))
})

const seen = ({ answer, finishReason, reward, toolCalls, transcript }: Trajectory.Trajectory) => ({
  answer,
  finishReason,
  reward,
  toolCalls,
  transcript: transcript.map(({ action, observation, text }) => ({
    action,
    observation,
    text: text.replace("<|end|>", "")
  }))
})

describe("Each agent", () => {
  it.effect.each([...acting(undefined), ...acting("tokens")])(
    "does on a server of the Tinker protocol what it does on its engine: %s",
    (agent) =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* onTinker(agent)).map(rounded), (yield* onEngine(agent)).map(rounded))
      })
  )

  it.effect.each(acting(undefined))("does with a chat model what it does on an engine: %s", (agent) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* onChat(agent)).map(seen), (yield* onEngine(agent)).map(seen))
    })
  )
})
