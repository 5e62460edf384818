import { assert, describe, it } from "@effect/vitest"
import { SeededRandom } from "@inspo/domain"
import { Array, Effect, Schema } from "effect"
import { ClauseBank } from "../src/index.ts"
import * as ClauseEdit from "../src/ClauseEdit.ts"

const { clauses } = ClauseBank
const bank = ClauseEdit.adviceOf(clauses)
const Place = Schema.Literals(Array.range(0, bank.length - 1))
const Places = Schema.Array(Place)
const Base = Schema.Literals(["", ClauseBank.seedInstruction, "Two\n\nlines  of  text."])

/** Advice that does not contradict itself, as edits leave it. */
const advise = (base: string, places: ReadonlyArray<number>): ClauseEdit.AdvisedInstruction =>
  places.reduce(
    (instruction, place) => ClauseEdit.put(instruction, Array.getUnsafe(bank, place)),
    ClauseEdit.read(clauses, base)
  )

const textsOf = ({ advice }: ClauseEdit.AdvisedInstruction) => advice.map(({ text }) => text)

describe("the bank", () => {
  it("has no text that stands in another or in the seed instruction", () => {
    for (const { text } of bank) {
      assert.deepStrictEqual(
        bank.filter((other) => other.text.includes(text)).map((other) => other.text),
        [text]
      )
      assert.notInclude(ClauseBank.seedInstruction, text)
    }
  })
})

describe("clauses of a user", () => {
  const Texts = Schema.Array(Schema.Literals(["Go.", "Go. Now.", "Stay.", "Sit.", "Sit. Down."]))

  it.prop("are refused where two have an id, or a wording is within another", [Schema.Array(Texts)], ([drawn]) => {
    const bank = drawn.flatMap((texts, index) =>
      Array.isReadonlyArrayNonEmpty(texts)
        ? [{ id: `${index % 3}`, behaviour: null, direction: 0 as const, texts }]
        : []
    )
    const ids = bank.map(({ id }) => id)
    const texts = bank.flatMap((clause) => clause.texts)
    const isClear =
      bank.length > 0 &&
      new Set(ids).size === ids.length &&
      texts.every((text) => texts.filter((other) => other.includes(text)).length === 1)
    assert.strictEqual(Schema.is(ClauseBank.Clauses)(bank), isClear)
  })
})

describe("read and write", () => {
  it.prop("are inverse, in any order of advice", [Base, Places], ([base, places]) => {
    const texts = Array.dedupe(places.map((place) => Array.getUnsafe(bank, place).text))
    const written = [base, ...texts].filter((part) => part !== "").join(" ")
    const read = ClauseEdit.read(clauses, written)
    assert.strictEqual(read.base, base)
    assert.deepStrictEqual(textsOf(read), texts)
    assert.strictEqual(ClauseEdit.write(read), written)
  })
})

describe("put", () => {
  it.prop("gives the advice once and keeps the rest", [Base, Places, Place], ([base, places, place]) => {
    const before = advise(base, places)
    const given = Array.getUnsafe(bank, place)
    const after = ClauseEdit.put(before, given)
    assert.strictEqual(after.base, before.base)
    assert.lengthOf(
      after.advice.filter(({ text }) => text === given.text),
      1
    )
    const clash = ({ clause }: ClauseEdit.Advice) =>
      clause.id === given.clause.id || (clause.behaviour !== null && clause.behaviour === given.clause.behaviour)
    assert.deepStrictEqual(
      textsOf(after).filter((text) => text !== given.text),
      before.advice.filter((one) => !clash(one)).map(({ text }) => text)
    )
    const clashAt = before.advice.findIndex(clash)
    assert.strictEqual(textsOf(after).indexOf(given.text), clashAt < 0 ? after.advice.length - 1 : clashAt)
  })
})

describe("draw", () => {
  const draw = (
    instruction: ClauseEdit.AdvisedInstruction,
    seed: number,
    weight: (clause: ClauseBank.Clause) => number = () => 1
  ) => Effect.runSync(SeededRandom.withStream(seed, ["draw"])(ClauseEdit.draw(clauses, instruction, weight)))

  it.prop(
    "keeps the base and the length cap, and contradicts nothing",
    [Base, Places, Schema.Int],
    ([base, places, seed]) => {
      const before = advise(base, places)
      const after = draw(before, seed)
      assert.strictEqual(after.base, base)
      const words = textsOf(after).join(" ").split(" ").length
      assert.isAtMost(words, Math.max(ClauseEdit.maxAdviceWords, textsOf(before).join(" ").split(" ").length))
      const concerned = after.advice.flatMap(({ clause }) => (clause.behaviour === null ? [] : [clause.behaviour]))
      assert.strictEqual(new Set(concerned).size, concerned.length)
      // At most two moves.
      assert.isAtMost(Array.difference(textsOf(after), textsOf(before)).length, 2)
    }
  )

  it.prop("keeps the cap when advice is at its limit", [Schema.Int], ([seed]) => {
    const full = { base: "", advice: bank.slice(0, 11) }
    const words = (instruction: ClauseEdit.AdvisedInstruction) => textsOf(instruction).join(" ").split(" ").length
    const after = draw(full, seed)
    if (Array.difference(textsOf(after), textsOf(full)).length > 0) {
      assert.isAtMost(words(after), ClauseEdit.maxAdviceWords)
    }
  })

  it.prop("never gives advice of no weight", [Schema.Int], ([seed]) => {
    const after = draw(ClauseEdit.read(clauses, "Go."), seed, ({ id }) =>
      id === "expert" || id === "search-first" ? 1 : 0
    )
    assert.isTrue(after.advice.every(({ clause }) => clause.id === "expert" || clause.id === "search-first"))
  })

  it("changes nothing when no advice has weight and none stands there", () => {
    const before = ClauseEdit.read(clauses, "Go.")
    assert.deepStrictEqual(
      draw(before, 1, () => 0),
      before
    )
  })

  it("gives every text of the bank, one or two of them, and withdraws at times", () => {
    const parent = advise("Go.", [0])
    const draws = Array.range(1, 2000).map((seed) => draw(parent, seed))
    const given = new Set(draws.flatMap(textsOf))
    assert.strictEqual(given.size, bank.length)
    const withdrawn = draws.filter(({ advice }) => advice.length === 0).length
    assert.isTrue(withdrawn > 50 && withdrawn < 250, `${withdrawn}`)
    const twice = draws.filter(({ advice }) => advice.length === 3).length
    assert.isTrue(twice > 400 && twice < 1000, `${twice}`)
  })

  it("draws a clause in proportion to its weight", () => {
    const once = Array.range(1, 4000)
      .map((seed) =>
        draw(ClauseEdit.read(clauses, "Go."), seed, ({ id }) => (id === "polite" ? 3 : id === "expert" ? 1 : 0))
      )
      .filter(({ advice }) => advice.length === 1)
    const share = once.filter((drawn) => textsOf(drawn).includes("Be polite and helpful.")).length / once.length
    assert.approximately(share, 0.75, 0.05)
  })
})
