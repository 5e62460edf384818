import { Template } from "@huggingface/jinja"
import { Predicate, Schema } from "effect"
import type { Tokenizer } from "../Tokenizer.ts"
import { strftime } from "./Strftime.ts"

/** Whether a template prints today's date. */
export const printsDate = (template: string): boolean => template.includes("strftime_now")

/** Renders messages and opens the assistant's turn, as `apply_chat_template` of transformers does without documents. */
export const compile = (
  text: string,
  specialTokens: Readonly<Record<string, string>>,
  date: string | null
): Tokenizer["render"] => {
  const template = new Template(text)
  repair(template.parsed)
  const constants = {
    documents: null,
    ...specialTokens,
    add_generation_prompt: true,
    ...(date === null ? {} : { [clock]: (format: string) => strftime(date, format) }),
    ...strips
  }
  return (messages, tools) => template.render({ ...constants, tools: tools ?? null, messages })
}

/** Whether a character is white space in Python: separators of files, lines and so on, but not the byte order mark. */
const isSpace = (character: string): boolean =>
  "\u001C\u001D\u001E\u001F\u0085".includes(character) || (character !== "\uFEFF" && character.trim() === "")

/** How many characters at the start of a list are among `characters`, or by default white space. */
const stripped = (text: ReadonlyArray<string>, characters: string | undefined): number => {
  const set = new Set(characters)
  const goes = characters === undefined ? isSpace : (character: string) => set.has(character)
  const end = text.findIndex((character) => !goes(character))
  return end < 0 ? text.length : end
}

const strip =
  (left: boolean, right: boolean) =>
  (text: unknown, characters?: string | null): string => {
    if (typeof text !== "string") throw new TypeError("chat_template: the stripped value is not a text")
    const all = Array.from(text)
    const from = left ? stripped(all, characters ?? undefined) : 0
    const rest = all.slice(from)
    return rest.slice(0, rest.length - (right ? stripped(rest.toReversed(), characters ?? undefined) : 0)).join("")
  }

const clock = "inspo_strftime_now"
const strips = { inspo_strip: strip(true, true), inspo_lstrip: strip(true, false), inspo_rstrip: strip(false, true) }

/**
 * Replaces what the library does differently from Python by calls of our own functions: its `strip`, `lstrip` and `rstrip`
 * ignore their argument, its white space is JavaScript's, and its clock cannot be set. Loops are rewritten, see {@link lowered}.
 */
const repair = (node: unknown): void => {
  if (!Predicate.isObjectKeyword(node)) return
  for (const child of Object.values(node)) repair(child)
  if (isStrip(node)) {
    const { object, property } = node.callee
    Object.assign(node, { callee: identifier(`inspo_${property.value}`), args: [object, ...node.args] })
  } else if (isTrim(node)) {
    Object.assign(node, { type: "CallExpression", callee: identifier("inspo_strip"), args: [node.operand] })
  } else if (isClock(node)) {
    Object.assign(node, { value: clock })
  } else if (isFor(node)) {
    if (node.body.some(leaves)) Object.assign(node, { body: [leaveIfBroken, ...lowered(node.body, [])] })
  }
}

/**
 * The statements of a loop, followed by `rest`, without `break` and `continue`: the library forgets what an iteration wrote before
 * them. What follows a condition with one moves into its branches. A `break` becomes a variable of the loop that the next iteration
 * reads first, and then there is nothing to forget.
 */
const lowered = (nodes: ReadonlyArray<unknown>, rest: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const place = nodes.findIndex(leaves)
  const node = nodes[place]
  if (node === undefined) return [...nodes, ...rest]
  const before = nodes.slice(0, place)
  if (!isIf(node)) return isBreak(node) ? [...before, setBroken] : before
  const after = lowered(nodes.slice(place + 1), rest)
  return [...before, { ...node, body: lowered(node.body, after), alternate: lowered(node.alternate, after) }]
}

/** Whether a statement can leave the iteration that it is in. */
const leaves = (node: unknown): boolean =>
  isControl(node) || (isIf(node) && (node.body.some(leaves) || node.alternate.some(leaves)))

const broken = { type: "Identifier", value: "inspo_broken" }
const setBroken = { type: "Set", assignee: broken, value: { type: "IntegerLiteral", value: 1 }, body: [] }
const leaveIfBroken = { type: "If", test: broken, body: [{ type: "Break" }], alternate: [] }

const Statements = Schema.Array(Schema.Unknown)
const isIf = Schema.is(Schema.Struct({ type: Schema.Literal("If"), body: Statements, alternate: Statements }))
const isFor = Schema.is(Schema.Struct({ type: Schema.Literal("For"), body: Statements }))
const isBreak = Schema.is(Schema.Struct({ type: Schema.Literal("Break") }))
const isControl = Schema.is(Schema.Struct({ type: Schema.Literals(["Break", "Continue"]) }))

const identifier = (value: string) => ({ type: "Identifier", value })

const Identifier = <const Names extends ReadonlyArray<string>>(names: Names) =>
  Schema.Struct({ type: Schema.Literal("Identifier"), value: Schema.Literals(names) })

const isStrip = Schema.is(
  Schema.Struct({
    type: Schema.Literal("CallExpression"),
    callee: Schema.Struct({
      type: Schema.Literal("MemberExpression"),
      object: Schema.Unknown,
      property: Identifier(["strip", "lstrip", "rstrip"]),
      computed: Schema.Literal(false)
    }),
    args: Schema.Array(Schema.Unknown)
  })
)

const isTrim = Schema.is(
  Schema.Struct({
    type: Schema.Literal("FilterExpression"),
    operand: Schema.Unknown,
    filter: Identifier(["trim"])
  })
)

const isClock = Schema.is(Identifier(["strftime_now"]))
