import { assert, describe, it } from "@effect/vitest"
import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { TokenizerFiles } from "@inspo/engine-local"
import { ClauseBank } from "@inspo/reflection"
import { Effect } from "effect"
import * as Examples from "../src/Examples.ts"
import * as Instructions from "../src/Instructions.ts"
import { learningRateAt, defaultOptions as trainingOptions } from "../src/Training.ts"
import { vocabulary } from "../src/Vocabulary.ts"

const tokenizer = fromFiles(TokenizerFiles.makeTokenizerFiles(vocabulary))
const options = { ...Examples.defaultOptions, seed: 1, worlds: 2, readingShare: 0 }

describe("batch", () => {
  it.effect("depends only on the seed and the step", () =>
    Effect.gen(function* () {
      const first = yield* Examples.make(tokenizer, options)
      const second = yield* Examples.make(tokenizer, options)
      yield* second.batch(1, 3)
      assert.deepStrictEqual(yield* first.batch(2, 8), yield* second.batch(2, 8))
      assert.notDeepEqual(yield* first.batch(3, 8), yield* first.batch(2, 8))
      const other = yield* Examples.make(tokenizer, { ...options, seed: 2 })
      assert.notDeepEqual(yield* other.batch(2, 8), yield* first.batch(2, 8))
    })
  )

  it.effect("has weights exactly on the text of the demonstrator, in whole words and within the limit", () =>
    Effect.gen(function* () {
      const examples = yield* Examples.make(tokenizer, { ...options, maxTokens: 120 })
      for (const { tokens, weights } of yield* examples.batch(1, 100)) {
        assert.lengthOf(weights, tokens.length)
        assert.isAtMost(tokens.length, 120)
        const text = tokenizer.decode(tokens)
        const written = tokenizer.decode(tokens.filter((_, index) => weights[index] === 1))
        const [prompt = "", response = ""] = text.split("<|assistant|>")
        assert.match(prompt, /^<\|user\|> .* Question: [A-Z].*\?$/u)
        assert.strictEqual(written, response.replaceAll(/<information>.*?<\/information>/gu, ""))
        assert.match(written, /<\/answer>$/u)
        // Every word, mark and tag is one token, and so is a space before a tag, which belongs to no word.
        assert.lengthOf(tokens, text.match(/<[^<>]+>|\w+|[^\s\w<>]| (?=<)/gu)?.length ?? 0, text)
      }
    })
  )
})

describe("reading exercises", () => {
  it.effect("repeat facts of the shown articles with exact names", () =>
    Effect.gen(function* () {
      const examples = yield* Examples.make(tokenizer, { ...options, readingShare: 1 })
      for (const { tokens, weights } of yield* examples.batch(1, 50)) {
        const shown = tokenizer.decode(tokens.filter((_, index) => weights[index] === 0))
        const written = tokenizer.decode(tokens.filter((_, index) => weights[index] === 1))
        assert.match(shown, /^(?:<information> [^<]*\.<\/information>)+$/u)
        assert.match(written, /^(?:<think> [^<]*\.<\/think>)+$/u)
        for (const [name] of written.matchAll(/[A-Z]\w+ [A-Z]\w+|\d+/gu)) assert.include(shown, name)
      }
    })
  )
})

describe("draw", () => {
  it.effect("starts with the seed instruction and adds clauses, each at most once", () =>
    Effect.gen(function* () {
      const drawn = yield* Effect.all(Array.from({ length: 500 }, () => Instructions.draw))
      for (const instruction of drawn) {
        assert.isTrue(instruction.startsWith(ClauseBank.seedInstruction))
        const added = instruction.slice(ClauseBank.seedInstruction.length).match(/\./gu)?.length ?? 0
        assert.lengthOf(ClauseBank.clausesIn(instruction), added, instruction)
      }
      const bare = drawn.filter((instruction) => instruction === ClauseBank.seedInstruction).length / drawn.length
      assert.approximately(bare, Instructions.rates.seedOnly + 0.03, 0.06)
    })
  )
})

describe("learningRateAt", () => {
  it("rises over the warm-up, then falls to the final share", () => {
    const at = (step: number) => learningRateAt(step, trainingOptions)
    const steps = Array.from({ length: trainingOptions.steps }, (_, index) => index + 1)
    for (const step of steps.slice(1)) {
      if (step <= trainingOptions.warmUp) assert.isAbove(at(step), at(step - 1))
      else assert.isAtMost(at(step), at(step - 1))
    }
    assert.isAtMost(Math.max(...steps.map(at)), trainingOptions.learningRate)
    assert.strictEqual(at(trainingOptions.steps), trainingOptions.learningRate * trainingOptions.finalShare)
  })
})
