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
import * as ClauseEdit from "../src/ClauseEdit.ts"
import { answer, failure, search } from "./fixtures/failure.ts"

const thought = "<think> The teacher of Marlen Tovik is Ada Ruhl.</think>"
const found = "<information> The teacher of Marlen Tovik is Ada Ruhl.</information>"
const failures = {
  memory: failure([answer("Dorn")]),
  whole: failure([search(failure([]).task, found), answer("Ada Ruhl", thought)]),
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
  records: [failures.memory, failures.memory, failures.whole, failures.wordy],
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
          records: kinds.map((kind) => failures[kind]),
          seed
        })
        assert.lengthOf(candidates, 6)
        assert.isTrue(candidates.every((candidate) => candidate.text.startsWith(seedText)))
        const { rejected } = CandidateLint.lint(candidates, { seed: seedText, known: [text], maxWords: 100 })
        assert.deepStrictEqual(rejected, [])
      })
  )

  it.effect("answers otherwise on another stream or seed", () =>
    Effect.gen(function* () {
      const one = yield* propose(layer)
      assert.notDeepEqual(yield* propose(layer, { stream: ["proposal", 15, 2] }), one)
      assert.notDeepEqual(yield* propose(layer, { seed: 2 }), one)
      const first = yield* initial(layer)
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
      }),
    { tags: "deep" }
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
      const shown = { records: kinds.map((kind) => failures[kind]), seed }
      for (const layer of [layerRandom, layerParaphrase, layerHistory])
        assert.deepStrictEqual(yield* propose(layer, shown), yield* propose(layer, { ...shown, records: [] }))
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
      const shown = { records: [failures[kind], failures[kind], failures[kind], failures[kind]] }
      assert.isAbove((yield* shares(layerRuleBased, shown))(id), 0.45)
      assert.isBelow((yield* shares(layerRandom, shown))(id), 0.25)
    })
  )

  it.effect("does not insist on a clause that is there already", () =>
    Effect.gen(function* () {
      const parent = { text: `${seedText} Never answer from memory.` }
      const { candidates } = yield* propose(layerRuleBased, { parent, records: [failures.memory] })
      const reworded = candidates.filter(
        ({ text }) => text.includes("Always search") || text.includes("Look up every fact")
      )
      assert.isBelow(reworded.length, 3)
    })
  )
})

describe("the rule-based proposer with a history", () => {
  type History = ProposeRequest["history"]
  const Score = Schema.Literals([0, 0.2, 0.5, 0.7, 1])
  const Tried = Schema.Array(Schema.Tuple([Parent, Score]))
  const textOf = (advice: ReadonlyArray<string>, base = seedText) => [base, ...Array.dedupe(advice)].join(" ")
  const historyOf = (tried: ReadonlyArray<readonly [ReadonlyArray<string>, number]>): History =>
    tried.map(([advice, score], index) => ({ instruction: { id: `i${index}`, text: textOf(advice) }, score }))
  const textsOf = ({ candidates }: { readonly candidates: ReadonlyArray<{ readonly text: string }> }) =>
    candidates.map(({ text }) => text)
  /** A text with its advice in order. */
  const sorted = (text: string) =>
    (text.match(/[^.]+\./gu) ?? [])
      .map((sentence) => sentence.trim())
      .toSorted()
      .join(" ")

  it.effect.prop(
    "repeats no text of the history, nor its advice in another order",
    [Parent, Tried, Parent, Schema.Int],
    ([advice, tried, known, seed]) =>
      Effect.gen(function* () {
        const history = historyOf(tried)
        const parent = { text: textOf(advice) }
        const rules = { seed: seedText, known: [textOf(known)] }
        const before = [parent.text, ...rules.known, ...history.map(({ instruction }) => instruction.text)].map(sorted)
        const candidates = textsOf(yield* propose(layerRuleBased, { parent, history, rules, seed })).map(sorted)
        assert.lengthOf(Array.intersection(candidates, before), 0)
        assert.lengthOf(Array.dedupe(candidates), 6)
      })
  )

  const three = ["Be kind.", "Be brief.", "Be sure."]
  const subsets = three.reduce<ReadonlyArray<ReadonlyArray<string>>>(
    (sets, sentence) => sets.flatMap((set) => [set, [...set, sentence]]),
    [[]]
  )
  const ofThree = Layer.provide(layerRuleBased, Layer.succeed(ClauseBank.Bank, ClauseBank.ofSentences(three)))
  const tried = (texts: ReadonlyArray<string>): History => texts.map((text) => ({ instruction: { text }, score: 0.5 }))

  it.effect.prop(
    "finds the one combination of advice that was not tried, before it puts what was tried in another order",
    [Schema.Literals(subsets.map((_, index) => index)), Schema.Literals(subsets.map((_, index) => index)), Schema.Int],
    ([parent, missing, seed]) =>
      Effect.gen(function* () {
        if (parent === missing) return
        const texts = subsets.map((set) => textOf(set, "Go."))
        const history = tried(texts.toSpliced(missing, 1))
        const found = textsOf(
          yield* propose(ofThree, { parent: { text: texts[parent] ?? "" }, history, records: [], seed })
        )
        assert.strictEqual(sorted(found[0] ?? ""), sorted(texts[missing] ?? ""))
        assert.lengthOf(Array.intersection(found, texts.toSpliced(missing, 1)), 0)
      }),
    { tags: "deep" }
  )

  it.effect("proposes nothing where every text was tried", () =>
    Effect.gen(function* () {
      const one = Layer.provide(layerRuleBased, Layer.succeed(ClauseBank.Bank, ClauseBank.ofSentences(["Be kind."])))
      const history = tried(["Go.", "Go. Be kind."])
      assert.deepStrictEqual((yield* propose(one, { parent: { text: "Go." }, history })).candidates, [])
    })
  )

  it.effect.prop(
    "combines the parent's advice with that of another good instruction",
    [Parent, Parent, Schema.Int],
    ([advice, others, seed]) =>
      Effect.gen(function* () {
        const [parent, other] = [textOf(advice), textOf(others)]
        const history = historyOf([
          [advice, 0.5],
          [others, 0.6],
          [["Take a deep breath."], 0]
        ])
        const { candidates } = yield* propose(layerRuleBased, { parent: { text: parent }, history, seed })
        const lacking = others.filter((text) => !advice.includes(text))
        for (const { rationale, text } of candidates) {
          if (!rationale.includes("combined with")) continue
          assert.include(rationale, "combined with i1's")
          assert.isTrue(advice.some((given) => text.includes(given)))
          assert.isTrue(lacking.some((given) => text.includes(given)))
          assert.isTrue(
            ClauseEdit.read(ClauseBank.clauses, text).advice.every((one) => `${parent} ${other}`.includes(one.text))
          )
        }
      })
  )

  it.effect(
    "combines about a third of the time, never with a poor instruction, nor where the parent advises nothing",
    () =>
      Effect.gen(function* () {
        const advice = ["Never answer from memory.", "Be polite and helpful."]
        const others = [
          "Search for one entity at a time.",
          "Quote the evidence before you go on.",
          "You are an expert."
        ]
        const combined = Effect.fnUntraced(function* (score: number, parent = textOf(advice)) {
          const history = historyOf([
            [advice, 0.5],
            [others, score],
            [[], 0.2],
            [["Be polite and helpful."], 0.3]
          ])
          const proposals = yield* Effect.forEach(Array.range(1, 60), (seed) =>
            propose(layerRuleBased, { parent: { text: parent }, history, seed, count: 3 })
          )
          const candidates = proposals.flatMap((proposal) => proposal.candidates)
          return candidates.filter(({ rationale }) => rationale.includes("combined")).length / candidates.length
        })
        assert.approximately(yield* combined(0.6), 1 / 3, 0.1)
        assert.strictEqual(yield* combined(0.1), 0)
        assert.strictEqual(yield* combined(0.6, seedText), 0)
      })
  )

  it.effect.each(["search-first", "polite", "from-memory"])(
    "draws %s more often where its carriers did better than with the same scores reversed",
    (id) =>
      Effect.gen(function* () {
        const texts = ClauseBank.clauses.find((clause) => clause.id === id)?.texts ?? [""]
        const scored = (scores: ReadonlyArray<number>) =>
          historyOf(Array.zip([[], [texts[0]], [texts[0], "Take a deep breath."], ["You are an expert."]], scores))
        const records: ProposeRequest["records"] = []
        const scores = [0.5, 0.9, 0.8, 0.1]
        const better = yield* shares(layerRuleBased, { records, history: scored(scores) })
        const worse = yield* shares(layerRuleBased, { records, history: scored(scores.map((score) => 1 - score)) })
        assert.isAbove(better(id), 1.5 * worse(id))
      })
  )

  it.effect("draws every clause still after all of them failed", () =>
    Effect.gen(function* () {
      const history = historyOf([[[], 1], ...ClauseBank.clauses.map(({ texts }) => [texts, 0] as const)])
      const share = yield* shares(layerRuleBased, { history })
      for (const { id } of ClauseBank.clauses) assert.isAbove(share(id), 0, id)
    })
  )

  it.effect("withdraws rather the advice whose carriers did worse than those without, and says so", () =>
    Effect.gen(function* () {
      const [worse, better] = ["Take a deep breath.", "You are an expert."]
      const parent = textOf([worse, better])
      const history = historyOf([
        [[worse, better], 0.5],
        [[worse], 0.1],
        [[better], 0.9],
        [[], 0.5]
      ])
      const proposals = yield* Effect.forEach(Array.range(1, 60), (seed) =>
        propose(layerRuleBased, { parent: { text: parent }, history, seed })
      )
      const reasons = proposals.flatMap(({ candidates }) => candidates.map(({ rationale }) => rationale))
      const dropping = (text: string) => reasons.filter((reason) => reason.includes(`drops "${text}"`))
      assert.isAbove(dropping(worse).length, 2 * dropping(better).length)
      assert.isTrue(dropping(worse).every((reason) => reason.includes(`drops "${worse}" (carriers scored lower)`)))
      assert.isTrue(dropping(better).every((reason) => !reason.includes("(carriers scored lower)")))
    })
  )

  it.effect("says what was never tried and what did better", () =>
    Effect.gen(function* () {
      const history = historyOf([
        [[], 0.5],
        [["You are an expert."], 0.9]
      ])
      const { candidates } = yield* propose(layerRuleBased, { history, count: 30, records: [] })
      const reasons = candidates.map(({ rationale }) => rationale).join("\n")
      for (const part of [
        `adds "Take a deep breath." (never tried)`,
        `adds "You are an expert." (carriers scored higher)`
      ])
        assert.include(reasons, part)
    })
  )

  it.effect.prop(
    "answers the same to the same request",
    [Parent, Tried, Kinds, Schema.Int],
    ([advice, tried, kinds, seed]) =>
      Effect.gen(function* () {
        const options = {
          parent: { text: textOf(advice) },
          history: historyOf(tried),
          records: kinds.map((kind) => failures[kind]),
          seed
        }
        const proposal = yield* propose(layerRuleBased, options)
        assert.deepStrictEqual(yield* propose(layerRuleBased, options), proposal)
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
