import type { Chat } from "@inspo/domain"
import { Effect, Predicate, Result, Schema } from "effect"

/**
 * Something the policy can use: it writes an input between the tags of the tool's name, and is shown the reply between
 * information tags.
 *
 * @example
 * ```ts
 * import { Tool } from "@inspo/rollout"
 * import { Effect } from "effect"
 *
 * const reverse = Tool.each("reverse", "<reverse> text</reverse> writes a text backwards.", (input) =>
 *   input === ""
 *     ? Effect.fail(new Tool.ToolRejection({ reason: "There is nothing to reverse." }))
 *     : Effect.succeed(Array.from(input).toReversed().join(""))
 * )
 * ```
 */
export interface Tool {
  /** Its tag: lower-case letters, digits and hyphens, beginning with a letter. */
  readonly name: string
  /** One sentence for the policy: how to call it and what it does. */
  readonly description: string
  /** How it is offered to a policy with native tool calls, whose arguments are then its input, as JSON. By default it takes one text. */
  readonly native?: Pick<Chat.ToolDefinition, "description" | "parameters">
  /** One reply per input, in their order. Inputs come without surrounding white space. */
  readonly run: (inputs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Reply>, ToolFailure>
}

/** What the policy is shown: the text, or why its input was rejected. */
export type Reply = Result.Result<string, ToolRejection>

/** The input is invalid. The policy is shown the reason and continues. */
export class ToolRejection extends Schema.TaggedError<ToolRejection>()("ToolRejection", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** The tool failed: it is down, too slow or returns invalid replies. The call is retried, then its episodes fail. */
export class ToolFailure extends Schema.TaggedError<ToolFailure>()("ToolFailure", {
  tool: Schema.String,
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `tool ${this.tool}: ${this.reason}`
  }
}

/** A tool that takes one input at a time. */
export const each = (
  name: string,
  description: string,
  run: (input: string) => Effect.Effect<string, ToolRejection | ToolFailure>
): Tool => ({
  name,
  description,
  run: Effect.forEach((input) =>
    run(input).pipe(
      Effect.map((text): Reply => Result.succeed(text)),
      Effect.catchTag("ToolRejection", (rejection) => Effect.succeed(Result.fail(rejection)))
    )
  )
})

/** The definition of a tool for a policy with native tool calls. */
export const definition = ({ description, name, native }: Tool): Chat.ToolDefinition => {
  if (native !== undefined) return { name, ...native }
  const [tags = "", example = "text"] = new RegExp(`^<${name}>([^]*?)</${name}>\\s*`, "u").exec(description) ?? []
  return {
    name,
    description: description.slice(tags.length),
    parameters: {
      type: "object",
      properties: { [textField]: { type: "string", description: example.trim() } },
      required: [textField],
      additionalProperties: false
    }
  }
}

/** The input that the arguments of a native call mean. */
export const inputOf = ({ native }: Pick<Tool, "native">, given: Schema.Json): Reply => {
  if (!Predicate.isObject(given)) return rejection("The arguments must be a JSON object.")
  if (native !== undefined) return Result.succeed(JSON.stringify(given))
  const text = Object.entries(given).find(([field]) => field === textField)?.[1]
  return typeof text === "string" && text.trim() !== ""
    ? Result.succeed(text.trim())
    : rejection(`The arguments must have the field ${textField}, a text that is not empty.`)
}

const textField = "input"

const rejection = (reason: string): Reply => Result.fail(new ToolRejection({ reason }))

/** Reserved names: tags of the protocol and kinds of turns. */
export const reserved: ReadonlyArray<string> = ["think", "information", "answer", "invalid"]

/** Whether a text can be the name of a tool. */
export const isName = (name: string): boolean => /^[a-z][a-z0-9-]*$/.test(name) && !reserved.includes(name)
