import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { compile } from "../../src/internal/ChatTemplate.ts"

/** A statement within loops; `equals` is a value of the variable of the innermost one. */
type Node = string | If | For
interface If {
  readonly equals: number
  readonly yes: ReadonlyArray<Node>
  readonly no: ReadonlyArray<Node>
}
interface For {
  readonly size: number
  readonly body: ReadonlyArray<Node>
}

const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
const Leaf = Schema.Literals(["a", "b", "break", "continue"])
const Nodes = Schema.Array(
  Schema.suspend((): Schema.Codec<Node> => Schema.Union([Leaf, Leaf, Leaf, Condition, Condition, Loop]))
).check(Schema.isMaxLength(4))
const Condition = Schema.Struct({ equals: Size, yes: Nodes, no: Nodes })
const Loop = Schema.Struct({ size: Size, body: Nodes })

const isControl = (node: Node) => node === "break" || node === "continue"

const textOf = (nodes: ReadonlyArray<Node>, depth: number): string =>
  nodes
    .map((node) => {
      if (typeof node === "string") return isControl(node) ? `{% ${node} %}` : node
      if ("size" in node) {
        const values = Array.from({ length: node.size }, (_, value) => value)
        return `{% for v${depth + 1} in [${values.join()}] %}${textOf(node.body, depth + 1)}{% else %}none{% endfor %}`
      }
      const { equals, no, yes } = node
      return `{% if v${depth} == ${equals} %}${textOf(yes, depth)}{% else %}${textOf(no, depth)}{% endif %}`
    })
    .join("")

/** What Python writes: all up to the statement that leaves, which is returned. */
const run = (nodes: ReadonlyArray<Node>, value: number, write: (text: string) => void): string | null => {
  for (const node of nodes) {
    if (typeof node === "string") {
      if (isControl(node)) return node
      write(node)
    } else if ("size" in node) {
      if (node.size === 0) write("none")
      for (let next = 0; next < node.size; next++) if (run(node.body, next, write) === "break") break
    } else {
      const left = run(node.equals === value ? node.yes : node.no, value, write)
      if (left !== null) return left
    }
  }
  return null
}

describe("loops of a chat template", () => {
  it.prop(
    "keep what an iteration wrote before break and continue",
    [Loop],
    ([loop]) => {
      const written: Array<string> = []
      run([loop], NaN, (text) => written.push(text))
      assert.strictEqual(compile(textOf([loop], 0), {}, null)([]), written.join(""))
    },
    { arbitrary: { runs: 1000 } }
  )

  it("leave no trace of a loop that ended early in the one around it", () => {
    const template =
      "{% for a in [1, 2] %}{% for b in [1, 2] %}{{ a }}{{ b }};{% break %}{% endfor %}{% if a == 1 %}{% continue %}{% endif %}end{% endfor %}"
    assert.strictEqual(compile(template, {}, null)([]), "11;21;end")
  })
})
