import { assert, describe, it } from "@effect/vitest"
import { Schema, Struct } from "effect"
import { FailureMode } from "../src/index.ts"
import { answer, failure, invalid, search } from "./fixtures/failure.ts"

const question = failure([]).task
const thought = "<think> The teacher of Marlen Tovik is Ada Ruhl.</think>"
const hop = search("Marlen Tovik", "<information> The teacher of Marlen Tovik is Ada Ruhl.</information>")
const lastHop = search("Ada Ruhl", "<information> Ada Ruhl was born in Ostrel Bay.</information>", thought)

describe("diagnose", () => {
  it.each([
    ["no-search", [answer("Dorn")]],
    ["no-search", [invalid, answer("Dorn")]],
    ["whole-question-as-query", [search(question), answer("Dorn")]],
    ["whole-question-as-query", [hop, search("where was the teacher of marlen born"), answer("Dorn")]],
    ["stopped-after-first-hop", [hop, answer("Ada Ruhl", thought)]],
    ["evidence-not-stated", [hop, answer("Ada Ruhl")]],
    ["evidence-not-stated", [hop, search("Ada Ruhl")]],
    ["answer-not-in-evidence", [hop, answer("Dorn", thought)]],
    ["wordy-answer", [hop, lastHop, answer("The answer is Ostrel Bay.", thought)]],
    ["wordy-answer", [hop, answer("It must have been Dorn", thought)]],
    ["wordy-answer", [hop, answer("Ostrel Bay itself", thought)]],
    ["broken-tags", [hop, invalid, answer("Dorn")]]
  ] as const)("sees %s", (mode, transcript) => {
    assert.include(FailureMode.diagnose(failure(transcript)), mode)
  })

  it.each([
    ["no-search", [hop, answer("Dorn")]],
    ["whole-question-as-query", [hop, lastHop, search("teacher of Marlen Tovik"), answer("Dorn")]],
    ["stopped-after-first-hop", [hop, lastHop, answer("Dorn")]],
    ["stopped-after-first-hop", [search("Ostrel Bay", "Ostrel Bay is a town."), answer("Dorn")]],
    ["stopped-after-first-hop", [hop]],
    ["evidence-not-stated", [hop, answer("Ada Ruhl", thought)]],
    ["evidence-not-stated", [hop]],
    ["answer-not-in-evidence", [hop, answer("ada  RUHL.", thought)]],
    ["answer-not-in-evidence", [answer("Dorn")]],
    ["wordy-answer", [hop, answer("Lower Dorn Valley", thought)]],
    ["wordy-answer", [hop, lastHop]],
    ["broken-tags", [hop, lastHop, answer("Dorn")]],
    ["ran-out-of-turns", [hop, lastHop, answer("Dorn")]]
  ] as const)("does not see %s where it is not", (mode, transcript) => {
    assert.notInclude(FailureMode.diagnose(failure(transcript)), mode)
  })

  it.each(["turns-exhausted", "context-exhausted"])(
    "sees ran-out-of-turns when the trajectory ended as %s",
    (reason) => {
      assert.include(FailureMode.diagnose(failure([hop, lastHop], reason)), "ran-out-of-turns")
    }
  )

  it("sees broken-tags when the last action was invalid", () => {
    assert.deepStrictEqual(FailureMode.diagnose(failure([hop], "invalid-action")), ["broken-tags"])
  })

  it("calls other what it cannot name", () => {
    const transcript = [hop, lastHop, answer("Ada Ruhl", thought)]
    assert.deepStrictEqual(FailureMode.diagnose(failure(transcript)), ["other"])
  })

  it("takes no evidence from what is shown after an invalid action", () => {
    const transcript = [hop, invalid, answer("Invalid action", thought)]
    assert.include(FailureMode.diagnose(failure(transcript)), "answer-not-in-evidence")
  })

  const Turn = Schema.Literals(["hop", "last", "whole", "invalid", "wrong", "wordy", "thoughtful"])
  const turns = {
    hop,
    last: lastHop,
    whole: search(question),
    invalid,
    wrong: answer("Dorn"),
    wordy: answer("The answer is Ostrel Bay."),
    thoughtful: answer("Ada Ruhl", thought)
  }

  it.prop("names each mode once, and other only alone", [Schema.Array(Turn)], ([names]) => {
    const modes = FailureMode.diagnose(failure(names.map((name) => turns[name])))
    assert.strictEqual(new Set(modes).size, modes.length)
    assert.isTrue(modes.length >= 1)
    assert.isTrue(modes.length === 1 || !modes.includes("other"))
    const searches = names.filter((name) => name === "hop" || name === "last" || name === "whole")
    assert.strictEqual(modes.includes("no-search"), searches.length === 0)
    assert.strictEqual(modes.includes("whole-question-as-query"), names.includes("whole"))
    assert.strictEqual(modes.includes("broken-tags"), names.includes("invalid"))
  })

  it.prop(
    "sees no search where there is none, no broken tags where none are read, and all else as ever",
    [Schema.Array(Turn), Schema.Boolean, Schema.Boolean],
    ([names, searches, readsTags]) => {
      const one = failure(names.map((name) => turns[name]))
      const protocol = { actions: searches ? ["search", "answer"] : ["answer"], readsTags }
      const impossible = new Set([...(searches ? [] : ["no-search"]), ...(readsTags ? [] : ["broken-tags"])])
      const possible = FailureMode.diagnose(one).filter((mode) => !impossible.has(mode))
      assert.deepStrictEqual<ReadonlyArray<FailureMode.FailureMode>>(
        FailureMode.diagnose(one, protocol),
        possible.length > 0 ? possible : ["other"]
      )
    }
  )

  it.prop("does not depend on case and punctuation", [Schema.Array(Turn)], ([names]) => {
    const plain = failure(names.map((name) => turns[name]))
    const loud = Struct.evolve(plain, {
      task: (text) => `${text.toUpperCase()}!!`,
      expected: () => ["OSTREL  bay."],
      transcript: Struct.evolve({ answer: (text: string | null) => (text === null ? null : `«${text.toUpperCase()}»`) })
    })
    assert.deepStrictEqual(FailureMode.diagnose(loud), FailureMode.diagnose(plain))
  })
})

describe("count", () => {
  const Kind = Schema.Literals(["no-search", "other", "broken"])
  const kinds = {
    "no-search": failure([answer("Dorn")]),
    other: failure([hop, lastHop, answer("Ada Ruhl", thought)]),
    broken: failure([hop], "invalid-action")
  }
  it.prop("counts every mode of every failure, most frequent first", [Schema.Array(Kind)], ([names]) => {
    const counts = FailureMode.count(names.map((name) => kinds[name]))
    const of = (mode: string) => counts.find((one) => one.mode === mode)?.failures ?? 0
    assert.strictEqual(of("no-search"), names.filter((name) => name === "no-search").length)
    assert.strictEqual(of("broken-tags"), names.filter((name) => name === "broken").length)
    assert.strictEqual(of("other"), names.filter((name) => name === "other").length)
    assert.deepStrictEqual(
      counts,
      [...counts].sort((a, b) => b.failures - a.failures)
    )
    assert.isTrue(counts.every(({ failures }) => failures > 0))
  })
})
