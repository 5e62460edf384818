import { assert, describe, it } from "@effect/vitest"
import { Arithmetic as Calculator } from "@inspo/rollout"
import { calculator } from "../../src/internal/Setup.ts"
import { Effect, Result, Schema } from "effect"

/** An expression tree over fractions of integers, its exact value and two ways to write it. */
type Tree = number | { readonly operator: "+" | "-" | "*" | "/"; readonly left: Tree; readonly right: Tree }

const Tree: Schema.Codec<Tree> = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: -20, maximum: 20 })),
  Schema.Struct({
    operator: Schema.Literals(["+", "-", "*", "/"]),
    left: Schema.suspend((): Schema.Codec<Tree> => Tree),
    right: Schema.suspend((): Schema.Codec<Tree> => Tree)
  })
])

const levels = { "+": 1, "-": 1, "*": 2, "/": 2 }

/** The value as a fraction; null where something is divided by zero. */
const value = (tree: Tree): readonly [bigint, bigint] | null => {
  if (typeof tree === "number") return [BigInt(tree), 1n]
  const left = value(tree.left)
  const right = value(tree.right)
  if (left === null || right === null) return null
  const [[a, b], [c, d]] = [left, right]
  switch (tree.operator) {
    case "+":
      return [a * d + c * b, b * d]
    case "-":
      return [a * d - c * b, b * d]
    case "*":
      return [a * c, b * d]
    case "/":
      return c === 0n ? null : [a * d, b * c]
  }
}

const inBrackets = (tree: Tree): string =>
  typeof tree === "number" ? `${tree}` : `(${inBrackets(tree.left)} ${tree.operator} ${inBrackets(tree.right)})`

/** With no more brackets than precedence and the order from left to right ask for. */
const brief = (tree: Tree): string => {
  if (typeof tree === "number") return `${tree}`
  const side = (child: Tree, isRight: boolean) => {
    if (typeof child === "number") return brief(child)
    const [inner, outer] = [levels[child.operator], levels[tree.operator]]
    return inner > outer || (inner === outer && !isRight) ? brief(child) : `(${brief(child)})`
  }
  return `${side(tree.left, false)}${tree.operator}${side(tree.right, true)}`
}

describe("Calculator", () => {
  it.prop("evaluates an expression like its tree, with or without redundant brackets", [Tree], ([tree]) => {
    const texts = [inBrackets(tree), brief(tree)].filter((text) => text.length <= Calculator.maxLength)
    const exact = value(tree)
    for (const text of texts) {
      const result = Calculator.evaluate(text)
      if (exact === null) assert.deepStrictEqual(result, Result.fail("Division by zero."))
      else {
        const expected = Number(exact[0]) / Number(exact[1])
        const shown = Number(Result.getOrThrow(result))
        assert.isAtMost(Math.abs(shown - expected), 1e-9 * Math.max(1, Math.abs(expected)), text)
      }
    }
  })

  it("is exact where binary fractions are not", () => {
    assert.deepStrictEqual(Calculator.evaluate("0.1 + 0.2"), Result.succeed("0.3"))
    assert.deepStrictEqual(
      Calculator.evaluate("99999999999999999999 * 10 + 1"),
      Result.succeed("999999999999999999991")
    )
  })

  it.prop(
    "says what is wrong with any other text, and never throws",
    [
      Schema.Union([
        Schema.String,
        Schema.Array(Schema.Literals(["1", "2.5", "+", "-", "*", "/", "(", ")", " ", "x", "."]))
      ])
    ],
    ([text]) => {
      const result = Calculator.evaluate(typeof text === "string" ? text : text.join(""))
      if (Result.isSuccess(result)) assert.match(result.success, /^-?\d+(\.\d{1,10})?(e\+\d+)?$/)
      else assert.isNotEmpty(result.failure)
    },
    { arbitrary: { runs: 500 } }
  )

  it("refuses incomplete expressions", () => {
    for (const text of ["", "2 2", "2(3)", "(1", "1)", "1 +", "* 2", "()", "1..2", "2 ** 3", "1e5"])
      assert.isTrue(Result.isFailure(Calculator.evaluate(text)), text)
  })

  it("refuses expressions that are too deep or too long", () => {
    for (const text of ["(".repeat(100_000), "-".repeat(100_000), "9".repeat(100_000)])
      assert.isTrue(Result.isFailure(Calculator.evaluate(text)))
  })

  it.effect("as a tool it answers each input, right or wrong", () =>
    Effect.gen(function* () {
      const replies = yield* calculator.run(["3 * (2 + 4)", "two", "1/0"])
      assert.deepStrictEqual(
        replies.map((reply) => (Result.isSuccess(reply) ? reply.success : reply.failure.reason)),
        ["18", "t is not part of an expression.", "Division by zero."]
      )
    })
  )
})
