import { assert, describe, it } from "@effect/vitest"
import { Effect, Random, Schema } from "effect"
import { Crossover } from "../src/index.ts"

const Sentence = Schema.Literals(["Use <search>.", "Close </search>!", "Think first.", "Be brief.", "Answer.", "Why?"])
const Text = Schema.UniqueArray(Sentence)
const join = (sentences: ReadonlyArray<string>) => sentences.join(" ")
const child = (a: ReadonlyArray<string>, b: ReadonlyArray<string>, seed: string) =>
  Effect.runSync(Random.withSeed(Crossover.cross(join(a), join(b)), seed))
    .split(/(?<=[.!?]) /u)
    .filter((sentence) => sentence !== "")
const isTagged = (sentence: string) => sentence.includes("<")

describe("cross", () => {
  it.prop("has nothing that neither parent has, and nothing twice", [Text, Text, Schema.String], ([a, b, seed]) => {
    const sentences = child(a, b, seed)
    assert.includeMembers([...a, ...b], sentences)
    assert.lengthOf(new Set(sentences), sentences.length)
  })

  it.prop("keeps what both have, and the tags of the first alone", [Text, Text, Schema.String], ([a, b, seed]) => {
    const sentences = child(a, b, seed)
    assert.includeMembers(
      sentences,
      a.filter((sentence) => b.includes(sentence))
    )
    assert.deepStrictEqual(sentences.filter(isTagged), a.filter(isTagged))
  })

  it.prop("leaves a parent crossed with itself as it is", [Text, Schema.String], ([a, seed]) => {
    assert.deepStrictEqual(child(a, a, seed), [...a])
  })

  it("brings every mixture about", () => {
    const seeds = Array.from({ length: 200 }, (_, seed) => String(seed))
    const children = new Set(seeds.map((seed) => join(child(["Think first."], ["Be brief."], seed))))
    assert.deepStrictEqual(children, new Set(["", "Think first.", "Be brief.", "Think first. Be brief."]))
  })
})
