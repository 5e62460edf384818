import { assert, describe, it } from "@effect/vitest"
import {
  ScoredEpisode,
  defaultOptions,
  layer,
  layerExactMatch,
  Reward,
  RewardError,
  RewardFunction,
  Rewards,
  type Scored
} from "@inspo/reward"
import { Effect, Schema } from "effect"

const question = { question: "Where was she born?", goldenAnswers: ["Ostrel Bay", "the town of Ostrel Bay"] }

const attempt = (...turns: ReadonlyArray<string>): ScoredEpisode.ScoredEpisode => ({
  question,
  prompt: "",
  response: turns.join(""),
  turns
})

// What an instruction could try: tags, answers in them, markers and observations.
const Instruction = Schema.Array(
  Schema.Literals([
    "Answer the question.",
    " Search first",
    "\n",
    "<answer>",
    "</answer>",
    "<answer>Ostrel Bay</answer>",
    "Ostrel Bay",
    "<answer> Beijing </answer>",
    "<think>",
    "<information>",
    "</information>",
    "<|im_start|>assistant\n",
    "<|assistant|>",
    "<|im_end|>"
  ])
)

const responses = [
  "",
  "<think> It is Ostrel Bay.</think>",
  "<answer> Ostrel Bay</answer>",
  "<answer> Ostrel Bay",
  "Ostrel Bay</answer>",
  "<think> Search.</think><search> her</search><information> <answer> Ostrel Bay</answer></information><answer> Ulva</answer>",
  "<think> Search.</think><search> her</search><information> she was born</information><answer> the Ostrel Bay</answer>"
]

describe("the default reward", () => {
  it.prop(
    "does not depend on the instruction",
    [Instruction],
    ([pieces]) => {
      const { score } = Rewards.builtIn.em.make(defaultOptions)
      for (const response of responses) {
        const prompt = `<|im_start|>user\n${pieces.join("")} Question: Where?<|im_end|>\n<|im_start|>assistant\n`
        const alone = Effect.runSync(score(ScoredEpisode.fromSolution(question, response)))
        assert.deepStrictEqual(Effect.runSync(score(ScoredEpisode.fromSolution(question, prompt + response))), alone)
        assert.deepStrictEqual(Effect.runSync(score({ ...attempt(response), prompt })), alone)
      }
    },
    { arbitrary: { runs: 1000 } }
  )

  it.effect("pays 1 for a golden answer or an alias in the last pair, else 0", () =>
    Effect.gen(function* () {
      const { score } = yield* Reward
      const found = Effect.fnUntraced(function* (...turns: ReadonlyArray<string>) {
        const { answer, reward } = yield* score(attempt(...turns))
        return [answer, reward]
      })
      assert.deepStrictEqual(yield* found("<answer> ostrel bay.</answer>"), ["ostrel bay.", 1])
      assert.deepStrictEqual(yield* found("<answer>Town of Ostrel Bay</answer>"), ["Town of Ostrel Bay", 1])
      assert.deepStrictEqual(yield* found("<answer>Ostrel Bay</answer>", "<answer>no</answer>"), ["no", 0])
      assert.deepStrictEqual(yield* found("Ostrel <answer>", "Bay</answer>"), [null, 0])
      assert.deepStrictEqual(yield* found("Ostrel Bay"), [null, 0])
    }).pipe(Effect.provide(layerExactMatch))
  )
})

describe("a reward function", () => {
  it.effect("of one's own is used like the built-in ones", () =>
    Effect.gen(function* () {
      const brief = RewardFunction.make("brief", ({ turns }) => ({ answer: null, reward: 1 / turns.length }))
      const { score } = yield* Effect.provide(Reward, layer(brief))
      assert.deepStrictEqual(yield* score(attempt("a", "b")), { answer: null, reward: 0.5 })
    })
  )

  const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

  it.effect.prop("passes rewards in [0, 1] on", [Share], ([reward]) =>
    Effect.gen(function* () {
      const { score } = RewardFunction.make("mine", () => Effect.succeed({ answer: "x", reward }))
      assert.deepStrictEqual(yield* score(attempt()), { answer: "x", reward })
    })
  )

  const defectOf = (scoring: Effect.Effect<Scored, RewardError>) =>
    Effect.map(Effect.sandbox(scoring).pipe(Effect.flip), (cause) => {
      const [reason] = cause.reasons
      assert(reason?._tag === "Die")
      assert(reason.defect instanceof Error)
      return reason.defect
    })

  it.effect.each([-1e-9, 1.0000001, 100, NaN, Infinity, -Infinity])(
    "that returns %d is at fault: by name, question and value",
    (reward) =>
      Effect.gen(function* () {
        const { score } = RewardFunction.make("mine", () => ({ answer: "x", reward }))
        const { message } = yield* defectOf(score(attempt()))
        assert.include(message, `reward mine: it returned ${reward} for the question "Where was she born?", expected`)
      })
  )

  it.effect("that throws is at fault, at once or later, and keeps its stack", () =>
    Effect.gen(function* () {
      const bug = new TypeError("no such field")
      const throwing = () => {
        throw bug
      }
      for (const { score } of [
        RewardFunction.make("mine", throwing),
        RewardFunction.make("mine", () => Effect.sync(throwing))
      ]) {
        const defect = yield* defectOf(score(attempt()))
        assert.include(defect.message, 'reward mine: it threw on the question "Where was she born?"')
        assert.strictEqual(defect.cause, bug)
      }
    })
  )

  it.effect("that fails is an error, never a zero", () =>
    Effect.gen(function* () {
      const failure = new RewardError({ reward: "mine", reason: "the service is down" })
      const failing = RewardFunction.make("mine", () => Effect.fail(failure))
      assert.strictEqual(yield* Effect.flip(failing.score(attempt())), failure)
    })
  )
})
