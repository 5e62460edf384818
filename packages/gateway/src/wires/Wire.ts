import type { OpenAiRefusal } from "@inspo/http/server"
import type { Result } from "effect"
import type { Answered, ChatCall } from "../ChatCall.ts"

/** A protocol that agents speak to their model: one path of the address of an episode. */
export interface Wire {
  /** How the path ends. */
  readonly path: string
  /** Reads the body of a request. */
  readonly read: (body: unknown) => Result.Result<Asked, OpenAiRefusal.Refusal>
  /** The body of a refusal. */
  readonly refused: (refusal: OpenAiRefusal.Refusal) => object
}

/** A request: its call, and how its answers are written. */
export interface Asked {
  readonly call: ChatCall
  readonly answer: (answered: Answered, about: About) => Reply
}

/** What answers are written with; `created` is in seconds since 1970. */
export interface About {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly decode: (tokens: ReadonlyArray<number>) => string
}

/** A body, or server-sent events. */
export type Reply =
  | { readonly _tag: "Json"; readonly body: object }
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<{ readonly event?: string; readonly data: string }> }
