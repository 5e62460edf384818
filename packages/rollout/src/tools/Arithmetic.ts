/** Arithmetic on texts. Imports little, so that programs start quickly. */
import * as BigDecimal from "effect/BigDecimal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/**
 * The value of an arithmetic expression, or why it has none: decimal numbers, `+ - * /`, signs and round brackets, with
 * the usual precedence, each operator of a level from left to right. Exact except for quotients; shown with at most
 * {@link decimals} decimals.
 *
 * @example
 * ```ts
 * import { Arithmetic } from "@inspo/rollout"
 *
 * Arithmetic.evaluate("0.1 + 0.2 * -3") // Result.succeed("-0.5")
 * Arithmetic.evaluate("1 / 0") // Result.fail("Division by zero.")
 * ```
 */
export const evaluate = (expression: string): Result.Result<string, string> =>
  Result.gen(function* () {
    if (expression.length > maxLength) return yield* Result.fail(`An expression has at most ${maxLength} characters.`)
    const tokens = yield* tokenize(expression)
    const { next, value } = yield* sum(tokens, 0)
    if (next < tokens.length) return yield* unexpected(tokens, next)
    return BigDecimal.format(BigDecimal.round(value, { scale: decimals }))
  })

/** Decimals of a result. */
export const decimals = 10

/** Characters of an expression, which limits the depth of brackets and the length of numbers. */
export const maxLength = 200

/** A value, and the token after its last one. */
interface Parsed {
  readonly value: BigDecimal.BigDecimal
  readonly next: number
}
type Parse = Result.Result<Parsed, string>
type Operator = (
  left: BigDecimal.BigDecimal,
  right: BigDecimal.BigDecimal
) => Result.Result<BigDecimal.BigDecimal, string>

const tokenize = (expression: string): Result.Result<ReadonlyArray<string>, string> => {
  const tokens = expression.match(/\d+(?:\.\d+)?|\.\d+|\S/g) ?? []
  const foreign = tokens.find((token) => !/^(?:[\d.]*\d|[-+*/()])$/.test(token))
  return foreign === undefined ? Result.succeed(tokens) : Result.fail(`${foreign} is not part of an expression.`)
}

const unexpected = (tokens: ReadonlyArray<string>, at: number): Result.Result<never, string> => {
  const token = tokens[at]
  return Result.fail(token === undefined ? "The expression is not complete." : `${token} is out of place.`)
}

/** A level of precedence: operands of the next level, joined by these operators from left to right. */
const level =
  (operators: ReadonlyMap<string, Operator>, operand: (tokens: ReadonlyArray<string>, at: number) => Parse) =>
  (tokens: ReadonlyArray<string>, at: number): Parse =>
    Result.gen(function* () {
      let left = yield* operand(tokens, at)
      for (
        let operator = operators.get(tokens[left.next] ?? "");
        operator !== undefined;
        operator = operators.get(tokens[left.next] ?? "")
      ) {
        const right = yield* operand(tokens, left.next + 1)
        left = { value: yield* operator(left.value, right.value), next: right.next }
      }
      return left
    })

const factor = (tokens: ReadonlyArray<string>, at: number): Parse => {
  const token = tokens[at] ?? ""
  if (token === "-")
    return Result.map(factor(tokens, at + 1), ({ next, value }) => ({ value: BigDecimal.negate(value), next }))
  if (token === "+") return factor(tokens, at + 1)
  if (token === "(")
    return Result.flatMap(sum(tokens, at + 1), ({ next, value }) =>
      tokens[next] === ")" ? Result.succeed({ value, next: next + 1 }) : unexpected(tokens, next)
    )
  return Option.match(/\d/.test(token) ? BigDecimal.fromString(token) : Option.none(), {
    onNone: () => unexpected(tokens, at),
    onSome: (value) => Result.succeed({ value, next: at + 1 })
  })
}

const product = level(
  new Map<string, Operator>([
    ["*", (left, right) => Result.succeed(BigDecimal.multiply(left, right))],
    ["/", (left, right) => Result.fromOption(BigDecimal.divide(left, right), () => "Division by zero.")]
  ]),
  factor
)

const sum = level(
  new Map<string, Operator>([
    ["+", (left, right) => Result.succeed(BigDecimal.sum(left, right))],
    ["-", (left, right) => Result.succeed(BigDecimal.subtract(left, right))]
  ]),
  product
)
