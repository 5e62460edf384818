import { Effect, Result } from "effect"
import * as Tool from "../Tool.ts"
import { evaluate } from "./Arithmetic.ts"

/** The calculator tool: `<calculate> 3 * (2 + 4)</calculate>` is answered by `18`. */
export const calculator: Tool.Tool = Tool.each(
  "calculate",
  "<calculate> 3 * (2 + 4)</calculate> works out an expression of numbers, + - * / and brackets.",
  (input) => Effect.fromResult(Result.mapError(evaluate(input), (reason) => new Tool.ToolRejection({ reason })))
)

export { decimals, evaluate, maxLength } from "./Arithmetic.ts"
