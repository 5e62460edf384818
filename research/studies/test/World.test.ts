import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { ClauseBank } from "@inspo/reflection"
import { Effect, FileSystem, Layer, Schema } from "effect"
import * as World from "../src/worlds/World.ts"
import * as WorldEngine from "../src/worlds/WorldEngine.ts"

const advised = `${World.seedInstruction} ${World.clauses[0]?.texts[0] ?? ""}`

const inWorld = (name: World.Name, dial: number) =>
  Layer.unwrap(
    Effect.map(
      Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()),
      (checkpoints) => WorldEngine.layer(World.worlds[name](dial), { checkpoints, policy: null })
    )
  ).pipe(Layer.provideMerge(NodeServices.layer))

/** The probability that the policy writes a word first under an instruction. */
const probability = Effect.fnUntraced(function* (instruction: string, word: World.Word) {
  const engine = yield* Engine
  const prompt = engine.tokenizer.prompt([{ role: "user", content: instruction }])
  const [scores = []] = yield* engine.score("current", [{ prompt, response: [World.words.indexOf(word)] }])
  return Math.exp(scores[0] ?? -Infinity)
})

/** A step towards a word under an instruction. */
const reward = Effect.fnUntraced(function* (instruction: string, word: World.Word) {
  const engine = yield* Engine
  const prompt = engine.tokenizer.prompt([{ role: "user", content: instruction }])
  const response = [World.words.indexOf(word)]
  const [logprobs = []] = yield* engine.score("current", [{ prompt, response }])
  return yield* engine.train({
    key: word,
    datums: [{ prompt, response, logprobs, advantages: [1], weights: [1] }],
    loss: { clipRatio: 0.2, klCoefficient: 0 },
    optimizer: { learningRate: 1, beta1: 0, beta2: 0, weightDecay: 0, gradientClip: 1 }
  })
})

const skill = "<answer>skill</answer>"

describe("a world", () => {
  it("has advice that can be distinguished", () => {
    assert.deepStrictEqual(Schema.decodeSync(ClauseBank.Clauses)(World.clauses), World.clauses)
  })

  it("is named in the place of a model, with the policy to begin with", () => {
    assert.deepStrictEqual(World.ofModel(World.modelOf("key", 2, "a:b"))?.policy, "a:b")
    assert.isNull(World.ofModel("runs/held-out"))
    assert.isNull(World.ofModel(null))
  })

  for (const dial of World.dials)
    it.effect(`crutch: the advice draws away from the skill as far as the dial says, ${dial}`, () =>
      Effect.gen(function* () {
        const [without, under] = [yield* probability(World.seedInstruction, skill), yield* probability(advised, skill)]
        assert.isBelow(under, without)
        assert.isAbove(yield* probability(advised, "<answer>crutch</answer>"), 0.6)
      }).pipe(Effect.provide(inWorld("crutch", dial)))
    )

  for (const dial of World.dials)
    it.effect(`rare: the first reward is as rare as the dial says, ${dial}`, () =>
      Effect.gen(function* () {
        const found = yield* probability(World.seedInstruction, skill)
        assert.closeTo(found, 0.1 * 10 ** (-dial / 2), 1e-9)
      }).pipe(Effect.provide(inWorld("rare", dial)))
    )

  it.effect("forget: what is learned under advice is learned for any prompt at 0, and stays with it at 4", () =>
    Effect.gen(function* () {
      for (const [dial, isShared] of [
        [0, true],
        [4, false]
      ] as const)
        yield* Effect.gen(function* () {
          const before = yield* probability(World.seedInstruction, skill)
          yield* reward(advised, skill)
          const after = yield* probability(World.seedInstruction, skill)
          assert.strictEqual(after > before + 1e-9, isShared, `${dial}`)
        }).pipe(Effect.provide(inWorld("forget", dial)))
    })
  )

  it.effect("writes what it can write, and continues from what it saved", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const prompt = engine.tokenizer.prompt([{ role: "user", content: World.seedInstruction }])
      const request = { prompt, n: 50, stop: [], maxTokens: 4, temperature: 1, topP: 1, seed: "1" }
      const before = yield* engine.sample([request])
      const texts = before.flatMap(({ sequences }) => sequences.map(({ tokens }) => engine.tokenizer.decode(tokens)))
      for (const text of texts)
        assert.match(text, /^<answer>(?:plain|nothing|usual|prepare (?:finish|rest))<\/answer>$/u)
      const saved = yield* engine.save("first")
      yield* reward(World.seedInstruction, "<answer>usual</answer>")
      assert.notDeepEqual(yield* engine.sample([request]), before)
      yield* engine.restore(saved)
      assert.deepStrictEqual(yield* engine.sample([request]), before)
    }).pipe(Effect.provide(inWorld("key", 2)))
  )

  it("rewards an answer in as many questions as it is worth", () => {
    const questions = World.questions(4000)
    const share = (source: string, answer: string) => {
      const own = questions.filter(({ dataSource }) => dataSource === source)
      return own.filter(({ goldenAnswers }) => goldenAnswers.includes(answer)).length / own.length
    }
    assert.closeTo(share("first-task", "crutch"), 0.5, 0.04)
    assert.strictEqual(share("first-task", "skill"), 1)
    assert.strictEqual(share("second-task", "skill"), 0)
  })
})
