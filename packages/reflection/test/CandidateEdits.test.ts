import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as CandidateEdits from "../src/CandidateEdits.ts"

const edit = (search: string, replacement: string) =>
  ["<<<<<<< SEARCH", search, "=======", ...(replacement === "" ? [] : [replacement]), ">>>>>>> REPLACE"].join("\n")

/** What stands in an original: parts that occur once each, of one line or several. */
const Separator = Schema.Literals([" ", "\n", "\n\n", "; "])
const Replacement = Schema.Literals(["", "new", "two\nlines", "p1", "=======x", "<b>$& {{parent}}", " spaced "])
const Part = Schema.Struct({
  separator: Separator,
  replacement: Schema.NullOr(Replacement),
  turn: Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7])
})
const Parts = Schema.Array(Part).check(Schema.isMinLength(1), Schema.isMaxLength(8))
const nameOf = (at: number) => `part ${at} of\nthe text.`

describe("edits", () => {
  it.prop("make the intended text, in any order, and change nothing that they do not name", [Parts], ([parts]) => {
    const original = parts.map(({ separator }, at) => `${nameOf(at)}${separator}`).join("")
    const intended = parts.map(({ replacement, separator }, at) => `${replacement ?? nameOf(at)}${separator}`).join("")
    const edits = parts
      .flatMap(({ replacement, turn }, at) => (replacement === null ? [] : [{ at, replacement, turn }]))
      .toSorted((one, other) => one.turn - other.turn)
      .map(({ at, replacement }) => edit(nameOf(at), replacement))
    const revised = CandidateEdits.revise(original, `Here they are:\n${edits.join("\nand\n")}`)
    assert.deepStrictEqual(revised, edits.length === 0 ? Result.fail("edits-missing") : Result.succeed(intended))
  })

  const Letters = Schema.Array(Schema.Literals(["a", "b", "ab", " ", "\n"])).check(Schema.isMaxLength(12))

  it.prop(
    "replace what is there once, and refuse what is not there or there again",
    [Letters, Letters],
    ([letters, searched]) => {
      const [original, search] = [letters.join(""), searched.join("")]
      const places = [...original].flatMap((_, at) => (original.startsWith(search, at) ? [at] : []))
      const [place = 0] = places
      assert.deepStrictEqual(
        CandidateEdits.revise(original, edit(search, "X")),
        search.trim() === "" || places.length === 0
          ? Result.fail("edit-not-found")
          : places.length > 1
            ? Result.fail("edit-ambiguous")
            : Result.succeed(`${original.slice(0, place)}X${original.slice(place + search.length)}`)
      )
    }
  )

  it.each([
    ["none", "The whole text again.", "edits-missing" as const],
    ["one without an end", "<<<<<<< SEARCH\nOne.\n=======\nTwo.", "edits-missing" as const],
    ["a whole one and one without an end", `${edit("One.", "1.")}\n<<<<<<< SEARCH\nTwo.`, "edits-missing" as const],
    ["one within another", `${edit("One. Two.", "1.")}\n${edit("Two.", "2.")}`, "edit-ambiguous" as const],
    ["the same twice", `${edit("One.", "1.")}\n${edit("One.", "2.")}`, "edit-ambiguous" as const],
    ["one of what another brings", `${edit("One.", "First.")}\n${edit("First.", "1.")}`, "edit-not-found" as const]
  ])("are refused as a whole: %s", (_, written, fault) => {
    assert.deepStrictEqual(CandidateEdits.revise("One. Two. Three.", written), Result.fail(fault))
  })

  it.prop(
    "are read in a time that is linear in an answer",
    [Schema.Literals(["<<<<<<< SEARCH\n", "=======\n", "<"])],
    ([mark]) => {
      const began = performance.now()
      CandidateEdits.revise("One.", mark.repeat(20_000))
      assert.isBelow(performance.now() - began, 1000)
    }
  )
})
