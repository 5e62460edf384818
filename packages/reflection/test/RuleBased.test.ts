import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Layer, Schema } from "effect"
import {
  CandidateLint,
  ClauseBank,
  layerHistory,
  layerParaphrase,
  layerRandom,
  layerRuleBased,
  Proposer,
  type ProposeRequest
} from "../src/index.ts"
import { answer, failure, search } from "./fixtures/failure.ts"

const thought = "<think> The teacher of Marlen Tovik is Ada Ruhl.</think>"
const found = "<information> The teacher of Marlen Tovik is Ada Ruhl.</information>"
const failures = {
  memory: failure([answer("Dorn")]),
  whole: failure([search(failure([]).question, found), answer("Ada Ruhl", thought)]),
  silent: failure([search("Marlen Tovik", found), search("Ada Ruhl", "Ostrel Bay"), answer("Ada Ruhl")]),
  wordy: failure([
    search("Marlen Tovik", found),
    search("Ada Ruhl", "Ada Ruhl was born in Ostrel Bay.", thought),
    answer("The answer is Ostrel Bay.", thought)
  ])
}
const seedText = ClauseBank.seedInstruction
const request = (options: Partial<ProposeRequest> = {}): ProposeRequest => ({
  parent: { text: seedText },
  failures: [failures.memory, failures.memory, failures.whole, failures.wordy],
  history: [],
  count: 6,
  seed: 1,
  stream: ["proposal", 15, 1],
  ...options
})
const propose = (layer: typeof layerRuleBased, options?: Partial<ProposeRequest>) =>
  Proposer.use((proposer) => proposer.propose(request(options))).pipe(Effect.provide(layer))
const initial = (layer: typeof layerRuleBased, options?: Partial<ProposeRequest>) =>
  Proposer.use((proposer) => proposer.initial(request(options))).pipe(Effect.provide(layer))

const Parent = Schema.Array(Schema.Literals(ClauseBank.clauses.map(({ texts }) => texts[0])))
const Kinds = Schema.Array(Schema.Literals(["memory", "whole", "silent", "wordy"]))

/** The share of the candidates of 60 proposals that carry each clause. */
const shares = Effect.fnUntraced(function* (layer: typeof layerRuleBased, options: Partial<ProposeRequest>) {
  const proposals = yield* Effect.forEach(Array.range(1, 60), (seed) => propose(layer, { ...options, seed }))
  const carried = proposals.flatMap(({ candidates }) => candidates.map(({ text }) => ClauseBank.clausesIn(text)))
  return (id: string) => carried.filter((clauses) => clauses.some((clause) => clause.id === id)).length / carried.length
})

/** Banks that share nothing with the one that ships. */
const Bank = Schema.NonEmptyArray(
  Schema.Struct({
    behaviour: Schema.NullOr(ClauseBank.Behaviour),
    direction: Schema.Literals([1, 0, -1]),
    wordings: Schema.Literals([1, 2, 3])
  })
)
const bankOf = (drawn: typeof Bank.Type): ReadonlyArray<ClauseBank.Clause> =>
  drawn.map(({ behaviour, direction, wordings }, index) => ({
    id: `own-${index}`,
    behaviour,
    direction,
    texts: Array.makeBy(wordings, (wording) => `Take way ${index}, saying ${wording}.`)
  }))

describe.each([
  ["rule-based", layerRuleBased],
  ["random", layerRandom],
  ["paraphrase", layerParaphrase],
  ["history", layerHistory]
] as const)("the %s proposer", (_, layer) => {
  it.effect.prop(
    "answers with different candidates that keep the protocol and pass the lint",
    [Parent, Kinds, Schema.Int],
    ([advice, kinds, seed]) =>
      Effect.gen(function* () {
        const text = [seedText, ...Array.dedupe(advice)].join(" ")
        const { candidates } = yield* propose(layer, {
          parent: { text },
          failures: kinds.map((kind) => failures[kind]),
          seed
        })
        assert.lengthOf(candidates, 6)
        assert.isTrue(candidates.every((candidate) => candidate.text.startsWith(seedText)))
        const { rejected } = CandidateLint.lint(candidates, { seed: seedText, known: [text], maxWords: 100 })
        assert.deepStrictEqual(rejected, [])
      })
  )

  it.effect("answers the same to the same request, and otherwise on another stream or seed", () =>
    Effect.gen(function* () {
      const one = yield* propose(layer)
      assert.deepStrictEqual(yield* propose(layer), one)
      assert.notDeepEqual(yield* propose(layer, { stream: ["proposal", 15, 2] }), one)
      assert.notDeepEqual(yield* propose(layer, { seed: 2 }), one)
      const first = yield* initial(layer)
      assert.deepStrictEqual(yield* initial(layer), first)
      assert.notDeepEqual(yield* initial(layer, { seed: 2 }), first)
    })
  )

  it.effect.prop(
    "gives advice of the bank that it is provided with, and no other",
    [Bank, Parent, Schema.Int],
    ([drawn, advice, seed]) =>
      Effect.gen(function* () {
        const bank = bankOf(drawn)
        const texts = bank.flatMap((clause) => clause.texts)
        const provided = Layer.provide(layer, Layer.succeed(ClauseBank.Bank, bank))
        const text = [seedText, ...Array.dedupe(advice)].join(" ")
        const first = yield* initial(provided, { seed, count: 100 })
        assert.lengthOf(first.candidates, texts.length)
        const { candidates } = yield* propose(provided, { parent: { text }, seed })
        for (const candidate of [...first.candidates, ...candidates]) {
          const own = texts.reduce((rest, given) => rest.replace(` ${given}`, ""), candidate.text)
          assert.include([seedText, text], own)
        }
      })
  )

  it.effect("costs no calls and no tokens", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* propose(layer)).spent, { calls: 0, tokens: 0, usd: 0 })
      assert.deepStrictEqual((yield* initial(layer)).spent, { calls: 0, tokens: 0, usd: 0 })
    })
  )

  it.effect("begins with variants of one clause each, all different", () =>
    Effect.gen(function* () {
      const { candidates } = yield* initial(layer, { count: 12 })
      const given = candidates.map(({ text }) => ClauseBank.clausesIn(text))
      assert.isTrue(given.every((clauses) => clauses.length === 1))
      assert.strictEqual(new Set(given.map(([clause]) => clause?.id)).size, 12)
    })
  )

  it.effect("begins with every clause equally often", () =>
    Effect.gen(function* () {
      const drawn = yield* Effect.forEach(Array.range(1, 600), (seed) => initial(layer, { seed, count: 1 }))
      for (const { id } of ClauseBank.clauses) {
        const times = drawn.filter(({ candidates }) =>
          candidates.some(({ text }) => ClauseBank.clausesIn(text).some((clause) => clause.id === id))
        ).length
        assert.approximately(times, 50, 28, id)
      }
    })
  )

  it.effect("begins with as many variants as the bank has texts, and no more", () =>
    Effect.gen(function* () {
      const texts = ClauseBank.clauses.flatMap((clause) => clause.texts)
      const { candidates } = yield* initial(layer, { count: 100 })
      assert.strictEqual(new Set(candidates.map(({ text }) => text)).size, texts.length)
      const advised = `${seedText} ${texts[0]}`
      const rest = yield* initial(layer, { count: 100, parent: { text: advised } })
      assert.lengthOf(rest.candidates, texts.length - 1)
      assert.notInclude(
        rest.candidates.map(({ text }) => text),
        advised
      )
    })
  )
})

describe("the proposers that edit freely", () => {
  it.effect.each([layerRuleBased, layerRandom, layerHistory])(
    "draw every clause of the bank in the long run",
    (layer) =>
      Effect.gen(function* () {
        const share = yield* shares(layer, {})
        for (const { id } of ClauseBank.clauses) assert.isAbove(share(id), 0, id)
      })
  )

  it.effect.prop("but the rule-based do not look at the failures", [Kinds, Schema.Int], ([kinds, seed]) =>
    Effect.gen(function* () {
      const shown = { failures: kinds.map((kind) => failures[kind]), seed }
      for (const layer of [layerRandom, layerParaphrase, layerHistory])
        assert.deepStrictEqual(yield* propose(layer, shown), yield* propose(layer, { ...shown, failures: [] }))
    })
  )
})

describe("the rule-based proposer", () => {
  it.effect("says in its critique what the failures have in common", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* propose(layerRuleBased)).critique,
        "Of 4 failures, 2 never searched; 1 used the whole question as a query; " +
          "1 answered after a single search that did not show the answer; 1 wrapped the answer in further words."
      )
    })
  )

  it.effect("says for each candidate what it changed and why", () =>
    Effect.gen(function* () {
      const { candidates } = yield* propose(layerRuleBased)
      for (const { rationale, text } of candidates) {
        for (const clause of ClauseBank.clausesIn(text)) {
          const written = clause.texts.find((wording) => text.includes(wording))
          const reason = clause.id === "search-first" ? "2 of 4 failures ask for it" : undefined
          assert.include(rationale, `adds "${written}"`)
          if (reason !== undefined) assert.include(rationale, reason)
        }
      }
    })
  )

  it.effect.each([
    ["memory", "search-first"],
    ["whole", "one-entity"],
    ["silent", "state-evidence"],
    ["wordy", "bare-answer"]
  ] as const)("answers %s failures with %s more often than chance", ([kind, id]) =>
    Effect.gen(function* () {
      const shown = { failures: [failures[kind], failures[kind], failures[kind], failures[kind]] }
      assert.isAbove((yield* shares(layerRuleBased, shown))(id), 0.45)
      assert.isBelow((yield* shares(layerRandom, shown))(id), 0.25)
    })
  )

  it.effect("does not insist on a clause that is there already", () =>
    Effect.gen(function* () {
      const parent = { text: `${seedText} Never answer from memory.` }
      const { candidates } = yield* propose(layerRuleBased, { parent, failures: [failures.memory] })
      const reworded = candidates.filter(
        ({ text }) => text.includes("Always search") || text.includes("Look up every fact")
      )
      assert.isBelow(reworded.length, 3)
    })
  )
})

/** The clauses that concern a behaviour. */
const asksFor = (text: string) =>
  ClauseBank.clausesIn(text).flatMap(({ behaviour, id }) => (behaviour === null ? [] : [id]))

describe("the paraphrase proposer", () => {
  it.effect.prop("asks for the same behaviours as the parent", [Parent, Schema.Int], ([advice, seed]) =>
    Effect.gen(function* () {
      const text = [seedText, ...Array.dedupe(advice)].join(" ")
      const { candidates } = yield* propose(layerParaphrase, { parent: { text }, seed })
      for (const candidate of candidates) assert.deepStrictEqual(asksFor(candidate.text), asksFor(text))
    })
  )

  it.effect("uses every wording of a clause, and every neutral clause", () =>
    Effect.gen(function* () {
      const parent = { text: `${seedText} Answer with the name only.` }
      const proposals = yield* Effect.forEach(Array.range(1, 30), (seed) => propose(layerParaphrase, { parent, seed }))
      const all = proposals.flatMap(({ candidates }) => candidates.map(({ text }) => text)).join("\n")
      const open = ClauseBank.clauses.filter(({ behaviour, id }) => behaviour === null || id === "bare-answer")
      for (const { texts } of open) for (const text of texts) assert.include(all, text)
    })
  )
})

describe("the history proposer", () => {
  const scored = (text: string, score: number) => ({ instruction: { text: `${seedText} ${text}` }, score })
  const history = [scored("Answer with the name only.", 0.8), scored("Answer at once from memory.", 0.1)]

  it.effect("follows the better half of the scores, whatever their order", () =>
    Effect.gen(function* () {
      const share = yield* shares(layerHistory, { history })
      assert.isAbove(share("bare-answer"), 2 * share("from-memory"))
      assert.deepStrictEqual(
        yield* propose(layerHistory, { history: history.toReversed() }),
        yield* propose(layerHistory, { history })
      )
    })
  )

  it.effect("does as the random proposer does when the scores favour nothing", () =>
    Effect.gen(function* () {
      const texts = ({ candidates }: { readonly candidates: ReadonlyArray<{ readonly text: string }> }) =>
        candidates.map(({ text }) => text)
      assert.deepStrictEqual(texts(yield* propose(layerHistory)), texts(yield* propose(layerRandom)))
    })
  )
})
