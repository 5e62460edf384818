import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@inspo/coevolution"
import { Instruction } from "@inspo/domain"
import { Schema } from "effect"
import { lineageLines, type Node } from "../../src/report/LineageReport.ts"
import { forest } from "../../src/run/Lineage.ts"

const id = (number: number) => Instruction.InstructionId.make(`i${number}`)
const alone = [{ run: "run", parent: null, forkedAt: null }]
const style = { columns: 80, canColor: false }

/** The events of a run that accepts one candidate a step: `parents[k]` is the number of the parent of instruction k + 1. */
const descent = (texts: ReadonlyArray<string>, parents: ReadonlyArray<number>): ReadonlyArray<RunEvent> => {
  const instruction = (number: number): Instruction.Instruction => ({
    id: id(number),
    text: texts[number] ?? `text ${number}`,
    parent: number === 0 ? null : id(parents[number - 1] ?? 0),
    generation: 0,
    origin: number === 0 ? "seed" : "proposed",
    bornAt: number
  })
  return [
    { _tag: "PopulationInitialised", instructions: [instruction(0)] },
    ...parents.flatMap((parent, index): ReadonlyArray<RunEvent> => {
      const step = index + 1
      const newcomer = instruction(step)
      return [
        {
          _tag: "CandidatesProposed",
          step,
          round: 1,
          parent: id(parent),
          failures: [],
          critique: "",
          candidates: [{ text: newcomer.text, rationale: "" }],
          rejected: []
        },
        {
          _tag: "PopulationRefilled",
          step,
          parents: [id(parent)],
          replaced: [],
          accepted: [{ instruction: newcomer, mean: 0, questions: 0, verdict: "" }],
          shortfall: 0
        }
      ]
    })
  ]
}

/** Every instruction of some trees with its parent and its depth. */
const flat = (
  roots: ReadonlyArray<Node>
): ReadonlyArray<readonly [id: string, parent: string | null, depth: number]> => {
  const found: Array<readonly [string, string | null, number]> = []
  const open: Array<{ readonly node: Node; readonly parent: string | null; readonly depth: number }> = roots.map(
    (node) => ({ node, parent: null, depth: 1 })
  )
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth, node, parent } = next
    found.push([node.id, parent, depth])
    for (const child of node.children) open.push({ node: child, parent: node.id, depth: depth + 1 })
  }
  return found
}

const Word = Schema.Literals(["search", "first", "be", "brief", "answer", "once"])
const Text = Schema.NonEmptyArray(Word)

describe("forest", () => {
  it.prop(
    "holds every instruction once, below its parent, and once for all branches that share it",
    [Schema.Array(Schema.Natural), Schema.Natural],
    ([draws, cut]) => {
      const parents = draws.map((draw, index) => draw % (index + 1))
      const events = descent([], parents)
      const branch = events.slice(0, 1 + 2 * (cut % (parents.length + 1)))
      const roots = forest([
        { run: "whole", events },
        { run: "branch", events: branch }
      ])
      assert.deepStrictEqual(
        new Map(flat(roots).map(([id, parent]) => [id, parent])),
        new Map([[id(0), null], ...parents.map((parent, index) => [id(index + 1), id(parent)] as const)])
      )
      assert.lengthOf(flat(roots), parents.length + 1)
    }
  )

  it("is as quick and as small for a line of a thousand generations as for a thousand siblings", () => {
    const line = forest([
      {
        run: "line",
        events: descent(
          [],
          Array.from({ length: 1000 }, (_, index) => index)
        )
      }
    ])
    assert.strictEqual(Math.max(...flat(line).map(([, , depth]) => depth)), 1001)
    const siblings = forest([
      {
        run: "siblings",
        events: descent(
          [],
          Array.from({ length: 1000 }, () => 0)
        )
      }
    ])
    assert.isBelow(JSON.stringify(line).length, 1.1 * JSON.stringify(siblings).length)
    const lines = lineageLines(alone, line, style)
    assert.isAtMost(Math.max(...lines.map(({ length }) => length)), style.columns)
  })
})

describe("lineageLines", () => {
  it.prop("shows each instruction by the words its parent does not have, within 80 columns", [Text, Text], ([a, b]) => {
    const [from, to] = [a.join(" "), b.join(" ")]
    const lines = lineageLines(alone, forest([{ run: "run", events: descent([from, to], [0]) }]), style)
    for (const line of lines) assert.isAtMost(line.length, style.columns, line)
    const told = lines.slice(lines.findIndex((line) => line.includes("i1: from i0 at step 1, alive")) + 1).join("\n")
    if (from === to) assert.include(told, "The same text.")
    else assert.match(told, /\{\+|\[-/u)
    const added = new Set(b.filter((word) => !a.includes(word)))
    for (const word of added) assert.include(told, word)
  })

  it("leaves out what parent and child share", () => {
    const shared = "Answer the question. Put the final answer between <answer> and </answer>."
    const lines = lineageLines(
      alone,
      forest([{ run: "run", events: descent([shared, `${shared} Be brief.`], [0]) }]),
      style
    )
    assert.deepStrictEqual(lines.slice(-2), [
      "  i1: from i0 at step 1, alive",
      "      … <answer> and </answer>. {+Be brief.+}"
    ])
  })
})
