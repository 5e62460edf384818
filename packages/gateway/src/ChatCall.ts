import type { TemplateMessage } from "@inspo/engine"
import type { Schema } from "effect"

/** What an agent asks its model, as all wires mean it. Temperature and seed are those of the run, whatever the agent asks for. */
export interface ChatCall {
  readonly messages: ReadonlyArray<TemplateMessage>
  /** Definitions of tools in OpenAI's form. */
  readonly tools: ReadonlyArray<Schema.JsonObject>
  readonly n: number
  /** At most this many tokens, and at most those of the run; null for those of the run. */
  readonly maxTokens: number | null
  readonly stop: ReadonlyArray<string>
  /** Whether the content has the stop text that ended it. */
  readonly keepsStop: boolean
}

/** A tool call of the policy; `input` are its arguments. */
export interface FunctionCall {
  readonly id: string
  readonly name: string
  readonly input: Schema.JsonObject
}

/** One answer, as the agent gets it. */
export interface Choice {
  readonly content: string
  readonly calls: ReadonlyArray<FunctionCall>
  readonly ended: "stop" | "length" | "calls"
  /** The stop text that ended it, if one did. */
  readonly stoppedAt: string | null
  readonly tokens: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
}

/** The answers to a call, and the tokens of its prompt. */
export interface Answered {
  readonly choices: ReadonlyArray<Choice>
  readonly promptTokens: number
}
