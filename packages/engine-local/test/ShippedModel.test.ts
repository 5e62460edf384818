import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import * as LocalEngine from "@inspo/engine-local"
import { Array as Arr, Effect, Layer } from "effect"
import { temporaryFolder } from "./fixtures.ts"

const shipped = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => LocalEngine.layer({ checkpoints: join(folder, "checkpoints"), workers: 2 }))
)

const instructions = [
  "Answer the question. Put a query between <search> and </search> to look things up. Put the final answer between <answer> and </answer>.",
  "Answer the question. Put a query between <search> and </search> to look things up. Put the final answer between <answer> and </answer>. Follow the chain from name to name. Quote the evidence before you go on. Look up every fact with a search."
]
const questions = [
  "Who is the mayor of the birthplace of Irva Sorley?",
  "When was the employer of the mayor of the source of the river Bayle Bourne founded?",
  "Who taught Hobrin Vargan?"
]
const observations = [
  "<information> Irva Sorley was born in Kelmont Meadow, works at Bremcor Lamps and was taught by Callen Morva.</information>",
  "<information> The river Bayle Bourne rises in Rosk Pass.</information>",
  "<information> Hobrin Vargan was born in Brenham Green, works at Fibrel Works and was taught by Davork Abendale.</information>"
]

describe("the shipped model", () => {
  it.layer(shipped)("in three turns of its world", (it) => {
    it.effect("sampler and trainer agree on log-probabilities within 1e-5, but for one token in a thousand", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const starts = Arr.flatMap(instructions, (instruction) =>
          questions.map((question) =>
            engine.tokenizer.prompt([{ role: "user", content: `${instruction} Question: ${question}` }])
          )
        )
        let prompts = starts
        const differences: Array<number> = []
        for (const turn of [0, 1, 2]) {
          const results = yield* engine.sample(
            prompts.map((prompt, index) => ({
              prompt,
              n: 16,
              stop: ["</search>", "</answer>"],
              maxTokens: 40,
              temperature: 1,
              topP: 1,
              seed: `${turn}/${index}`
            }))
          )
          const sampled = results.flatMap(({ sequences }, index) => {
            const [start = [], prompt = []] = [starts[index], prompts[index]]
            return sequences.map(({ tokens, logprobs }) => ({
              logprobs,
              sequence: { prompt: start, response: [...prompt.slice(start.length), ...tokens] }
            }))
          })
          const scores = yield* engine.score(
            "current",
            sampled.map(({ sequence }) => sequence)
          )
          sampled.forEach(({ logprobs }, index) => {
            const scored = scores[index]?.slice(-logprobs.length) ?? []
            logprobs.forEach((logprob, at) => differences.push(Math.abs(logprob - (scored[at] ?? Number.NaN))))
          })
          prompts = prompts.map((prompt, index) => [
            ...prompt,
            ...(results[index]?.sequences[0]?.tokens ?? []),
            ...engine.tokenizer.encode(observations[index % observations.length] ?? "")
          ])
        }
        assert.isAbove(differences.length, 2000)
        const far = differences.filter((difference) => !(difference <= 1e-5))
        // These weights amplify rounding: in float32, both are this far from the exact value for some rare token.
        assert.isAtMost(far.length, differences.length / 1000)
        for (const difference of far) assert.isBelow(difference, 1e-4)
      })
    )
  })
})
