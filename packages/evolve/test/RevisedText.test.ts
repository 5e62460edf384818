import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { instructionId } from "@inspo/evolution"
import { Schema } from "effect"
import * as Evidence from "../src/Evidence.ts"
import * as RevisedText from "../src/RevisedText.ts"

const seed = Instruction.make({ a: "A", b: "B", c: "C" }, { id: instructionId(0) })
const revised = (name: string, place: number): Instruction.Instruction =>
  Instruction.make({ a: "A", b: "B", c: "C", [name]: `${name} ${place}` }, { id: instructionId(place), parent: seed })

const cases = Array.from({ length: 20 }, (_, index) => index)

/** Answers of all prompts to some cases: the seed scores 0.5, a revision the score of its text. */
const known = (texts: ReadonlyArray<string>, scoreOf: (text: string) => number, asked = 20): RevisedText.Known => {
  const prompts = [seed, ...texts.map((text, at) => revised(text, at + 1))] as const
  const answers = [0.5, ...texts.map(scoreOf)].flatMap((score, at) =>
    cases.slice(0, asked).map((index) => ({
      _tag: "Answered" as const,
      prompt: instructionId(at),
      case: index,
      sample: 0,
      score,
      feedback: null,
      usd: 0
    }))
  )
  const proposals = new Map([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length] as const))
  return { prompts, answers: answers.reduce(Evidence.add, Evidence.noAnswers), proposals }
}

const Text = Schema.Literals(["a", "b", "c"])

describe("the text that is revised", () => {
  it.prop(
    "is each in turn until answers differ",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }))],
    ([count]) => {
      const texts: Array<string> = []
      for (let turn = 0; turn < count; turn++) {
        const next = RevisedText.next(
          known(texts, () => 0.5),
          cases,
          seed
        )
        assert.strictEqual(next, ["a", "b", "c"][turn % 3])
        texts.push(next ?? "")
      }
    }
  )

  it.prop("is the one that gained, after as many proposals of each", [Text], ([best]) => {
    const texts = ["a", "b", "c", "a", "b", "c", "a", "b", "c"]
    assert.strictEqual(
      RevisedText.next(
        known(texts, (text) => (text === best ? 0.9 : 0.5)),
        cases,
        seed
      ),
      best
    )
  })

  it.prop("is not for ever one whose proposals bring nothing", [Text], ([barren]) => {
    const proposals = new Map([[barren, 30]])
    const { answers } = known([], () => 0)
    assert.notStrictEqual(RevisedText.next({ prompts: [seed], answers, proposals }, cases, seed), barren)
  })

  it("is none of a prompt of one text", () => {
    const alone = Instruction.make("A", { id: instructionId(0) })
    assert.isNull(RevisedText.next({ ...known([], () => 0), prompts: [alone] }, cases, alone))
  })
})
