import { assert, describe, it } from "@effect/vitest"
import { World, WorldQuestion } from "@inspo/datasets"
import type { Search } from "@inspo/retrieval"
import { layerBm25, make } from "@inspo/retrieval/Bm25"
import { AnswerExtraction, ExactMatch } from "@inspo/reward"
import { ActionParser } from "@inspo/rollout"
import { Effect, Layer, Schema } from "effect"
import type { Behaviours } from "../src/Behaviours.ts"
import { demonstrate } from "../src/Demonstration.ts"

const generated = Effect.runSync(WorldQuestion.generate({ seed: 7, counts: { train: 60, validation: 0, test: 0 } }))
const questions = generated.questions.train
const layerWorld: Layer.Layer<Search> = Layer.orDie(layerBm25(generated.passages))

const Drawn = Schema.Struct({
  search: Schema.Boolean,
  "one-entity-per-search": Schema.Boolean,
  "state-evidence": Schema.Boolean,
  "bare-answer": Schema.Boolean
})
const Index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: questions.length - 1 }))

const perform = (index: number, behaviours: Behaviours) =>
  Effect.gen(function* () {
    const question = questions[index] ?? (yield* Effect.die("no such question"))
    const segments = yield* demonstrate(generated.world, question, behaviours)
    const actions = segments.filter((segment) => segment.action).map((segment) => segment.text)
    const answer = AnswerExtraction.extractAnswer(actions.join("")) ?? ""
    return { question, segments, actions, answer, reward: ExactMatch.exactMatch(answer, question.goldenAnswers) }
  })

it.layer(layerWorld)("demonstrate", (it) => {
  it.effect.prop("is a valid trajectory: searches that are answered, then one answer", [Index, Drawn], (drawn) =>
    Effect.gen(function* () {
      const { segments } = yield* perform(...drawn)
      assert.deepStrictEqual(
        segments.map((segment) => segment.action),
        segments.map((_, index) => index % 2 === 0)
      )
      const kinds = segments.map(({ action, text }) => (action ? ActionParser.parse(text).kind : "observation"))
      assert.deepStrictEqual(
        kinds,
        kinds.map((_, index) => (index === kinds.length - 1 ? "answer" : index % 2 === 0 ? "search" : "observation"))
      )
      for (const { action, text } of segments) {
        if (!action) assert.match(text, /^<information> [^<]*\.<\/information>$/u)
      }
    })
  )

  it.effect.prop("shows exactly the given behaviours", [Index, Drawn], (drawn) =>
    Effect.gen(function* () {
      const [index, behaviours] = drawn
      const { actions, answer, question } = yield* perform(index, behaviours)
      const queries = actions.map(ActionParser.parse).filter((action) => action.kind === "search")
      const expected = !behaviours.search
        ? []
        : behaviours["one-entity-per-search"]
          ? question.decomposition.map((fact) => fact.entity.name)
          : [question.question]
      assert.deepStrictEqual(
        queries.map((action) => action.content),
        expected
      )
      const thoughts = actions.join("").match(/<think>/gu)?.length ?? 0
      assert.strictEqual(thoughts, behaviours["state-evidence"] ? expected.length : 0)
      assert.strictEqual(/^The answer is .*\.$/u.test(answer), !behaviours["bare-answer"])
    })
  )

  it.effect.prop(
    "finds every answer with one entity per search, and states only what the results show",
    [Index],
    (drawn) =>
      Effect.gen(function* () {
        const all = { search: true, "one-entity-per-search": true, "state-evidence": true, "bare-answer": true }
        const { question, reward, segments } = yield* perform(drawn[0], all)
        assert.strictEqual(reward, 1)
        for (const [hop, fact] of question.decomposition.entries()) {
          assert.include(segments[2 * hop + 1]?.text, fact.value.name)
          assert.include(segments[2 * hop + 2]?.text, `<think> ${World.statement(fact)}</think>`)
        }
      })
  )

  it.effect("answers one hop but not a chain with the whole question as its query", () =>
    Effect.gen(function* () {
      const whole = { search: true, "one-entity-per-search": false, "state-evidence": true, "bare-answer": true }
      const results = yield* Effect.forEach(questions, (_, index) => perform(index, whole))
      const mean = (source: string) => {
        const rewards = results.filter(({ question }) => question.dataSource === source).map(({ reward }) => reward)
        return rewards.reduce<number>((sum, reward) => sum + reward, 0) / rewards.length
      }
      assert.isAbove(mean("world-1hop"), 0.9)
      for (const source of ["world-2hop", "world-3hop", "world-4hop"]) assert.isBelow(mean(source), 0.2, source)
      for (const { question, segments } of results) {
        const shown = segments[1]?.text ?? ""
        const read = segments.at(-1)?.text ?? ""
        if (question.kind === "comparison") assert.match(read, /<think> .* was founded in \d{4}\.<\/think>/u, shown)
      }
    })
  )
})

describe("the search index", () => {
  it.effect("puts the article of a name first, in every world", () =>
    Effect.gen(function* () {
      for (const seed of [1, 2, 3]) {
        const passages = World.passages(yield* World.make(seed))
        const { search } = yield* make(passages)
        const results = yield* search(
          passages.map((passage) => passage.title),
          1
        )
        assert.deepStrictEqual(
          results.map((found) => found[0]?.passage.id),
          passages.map((passage) => passage.id)
        )
      }
    })
  )
})
