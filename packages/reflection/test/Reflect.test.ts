import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Reflect } from "../src/index.ts"

const Scores = Schema.Array(Schema.Literals([0, 0.25, 0.5, 1]))
const Most = Schema.Literals([1, 2, 3, 5, 11])

const work: Reflect.Work = {
  parent: { tool: "Search the town.", system: "Be brief." },
  seed: { tool: "Search.", system: "Be brief." },
  records: [
    { score: 0, task: "Where?", transcript: "Dorn", feedback: "Names the wrong town of the two.", expected: ["Ostrel"] }
  ],
  known: [{ tool: "Search.", system: "Be brief." }],
  history: [],
  count: 2,
  rules: { actions: [] }
}
const candidates = (...texts: ReadonlyArray<string>) => ({ candidates: texts.map((text) => ({ text, rationale: "" })) })

describe("records", () => {
  it.prop("are the worst and the best, each once, and no more than asked for", [Scores, Most], ([scores, most]) => {
    const all = scores.map((score, index) => ({ score, index }))
    const chosen = Reflect.chosen(all, most)
    const lowest = [...scores].sort((one, other) => one - other).slice(0, chosen.length)
    assert.isAtMost(chosen.length, most)
    assert.strictEqual(new Set(chosen.map(({ index }) => index)).size, chosen.length)
    assert.isAtLeast(chosen.length, Math.min(scores.length, most - Math.floor((most + 1) / 4)))
    assert.deepStrictEqual(
      chosen.map(({ score }) => score),
      chosen.map(({ score }) => score).sort((one, other) => one - other)
    )
    assert.strictEqual(chosen[0]?.score, lowest[0])
    if (most > 2) assert.strictEqual(chosen.at(-1)?.score, scores.length === 0 ? undefined : Math.max(...scores))
  })

  it("of equal scores are the first", () => {
    const all = ["a", "b", "c"].map((name) => ({ name, score: 0 }))
    assert.deepStrictEqual(
      Reflect.chosen(all, 2).map(({ name }) => name),
      ["a", "b"]
    )
  })
})

describe("of several named texts", () => {
  it.each([0, 1, 2, 3])("one is revised at a time, in turn: %s", (turn) => {
    const name = turn % 2 === 0 ? "system" : "tool"
    const { candidatesOf, request } = Reflect.on({ ...work, turn })
    assert.strictEqual(request.name, name)
    assert.deepStrictEqual(candidatesOf(candidates("Look twice.")).accepted, [
      {
        text: JSON.stringify({ ...Object(work.parent), [name]: "Look twice." }),
        parts: { ...Object(work.parent), [name]: "Look twice." },
        rationale: ""
      }
    ])
  })
})

describe("a candidate", () => {
  it("may not be longer than allowed, as a whole", () => {
    const { candidatesOf } = Reflect.on({ ...work, longest: 60 })
    const { accepted, rejected } = candidatesOf(candidates("Look it up twice before you answer.", "Look."))
    assert.deepStrictEqual([accepted.length, rejected.map(({ reason }) => reason)], [1, ["too-long"]])
  })

  it("may repeat feedback only where that is the user's own", () => {
    const repeated = candidates("Never name the wrong town of the two.")
    assert.deepStrictEqual(
      [true, false].map((ownFeedback) => Reflect.on({ ...work, ownFeedback }).candidatesOf(repeated).accepted.length),
      [1, 0]
    )
  })

  it("that its proposer could not make of edits is refused with the others", () => {
    const rejected = [{ text: "No edit.", reason: "edits-missing" as const }]
    assert.deepStrictEqual(Reflect.on(work).candidatesOf({ ...candidates("Look.", " "), rejected }), {
      accepted: Reflect.on(work).candidatesOf(candidates("Look.")).accepted,
      rejected: [...rejected, { text: " ", reason: "empty" }]
    })
  })

  it("is accepted without rules if it has a text", () => {
    const { candidatesOf, request } = Reflect.on({ ...work, rules: null })
    assert.isUndefined(request.rules)
    assert.strictEqual(candidatesOf(candidates("Search.", " ")).accepted.length, 1)
  })
})
