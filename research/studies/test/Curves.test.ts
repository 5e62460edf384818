import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { figure, testFigure } from "../src/Curves.ts"

const Courses = Schema.NonEmptyArray(
  Schema.NonEmptyArray(Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))))
).check(Schema.isMaxLength(4))

/** The horizontal places of a line's points. */
const places = (svg: string): ReadonlyArray<string> => svg.match(/\d+(?:\.\d+)?,\d+(?:\.\d+)?/gu) ?? []

describe("figure", () => {
  it.prop("is a separate SVG with the name of every arm and only numbers", [Courses], ([courses]) => {
    const svg = figure("Training reward", [
      { arm: "evolved", courses },
      { arm: "static", courses: [[0.1, 0.2]] }
    ])
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/u)
    for (const name of ["Training reward", "evolved", "static"]) assert.include(svg, name)
    assert.notMatch(svg, /NaN|undefined|Infinity/u)
  })

  it("has a band for several seeds, and none for one", () => {
    const one = figure("T", [{ arm: "a", courses: [[0.1, 0.2, 0.3]] }])
    const two = figure("T", [
      {
        arm: "a",
        courses: [
          [0.1, 0.2, 0.3],
          [0.2, 0.4, 0.5]
        ]
      }
    ])
    assert.isAbove(places(two).length, places(one).length)
  })
})

describe("the names of arms", () => {
  it("are in one line above the plot", () => {
    const arms = ["evolved", "parents-2", "parents-3", "parents-4"]
    const svg = figure(
      "Training reward",
      arms.map((arm) => ({ arm, courses: [[0, 1]] }))
    )
    const legends = [...svg.matchAll(/<text[^>]*y="([^"]*)"[^>]*>((?:<tspan[^>]*>[^<]*<\/tspan>)+)<\/text>/gu)]
    assert.lengthOf(legends, 1)
    assert.isBelow(Number(legends[0]?.[1]), 0)
    assert.deepStrictEqual(
      [...(legends[0]?.[2] ?? "").matchAll(/>([^<]+)</gu)].map(([, name]) => name),
      arms
    )
  })
})

describe("testFigure", () => {
  const Course = Schema.Array(
    Schema.Struct({ step: Schema.Literals([0, 10, 20, 65]), em: Schema.Literals([0, 0.5, 1]) })
  ).check(Schema.isUnique())

  it.prop("draws any checkpoints, with only numbers", [Schema.NonEmptyArray(Course)], ([courses]) => {
    const svg = testFigure([
      { arm: "evolved", courses },
      { arm: "static", courses: [[{ step: 65, em: 0.25 }]] }
    ])
    for (const name of ["EM on test questions", "evolved", "static"]) assert.include(svg, name)
    assert.notMatch(svg, /NaN|undefined|Infinity/u)
  })

  it("leaves out steps at which a run has no checkpoint", () => {
    const kept = [0, 10, 20].map((step) => ({ step, em: 0.5 }))
    const all = testFigure([{ arm: "a", courses: [kept, kept] }])
    const some = testFigure([{ arm: "a", courses: [kept, kept.slice(0, 2)] }])
    assert.isAbove(places(all).length, places(some).length)
  })
})
