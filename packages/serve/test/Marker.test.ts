import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Marker from "../src/internal/Marker.ts"

const Plain = Schema.String.check(Schema.makeFilter((text) => !text.includes("{{inspo:")))
const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
  before: Plain,
  isMarked: Schema.Boolean,
  isInParts: Schema.Boolean
})

const contentOf = ({ before, isInParts, isMarked }: typeof Message.Type, marker: string): Schema.Json => {
  const text = `${before}${isMarked ? marker : ""}`
  return isInParts
    ? [
        { type: "text", text },
        { type: "image_url", image_url: { url: text } }
      ]
    : text
}

/** A part that is no text keeps what it holds. */
const filledContent = (message: typeof Message.Type, marker: string, filling: string): Schema.Json => {
  const filled = contentOf(message, filling)
  const left = contentOf(message, marker)
  return Array.isArray(filled) && Array.isArray(left) ? [filled[0], left[1]] : filled
}

const isPrompt = ({ role }: typeof Message.Type): boolean => role === "system" || role === "developer"

describe("a marker", () => {
  it.prop(
    "is filled in system prompts, whatever stands around it, and nowhere else",
    { messages: Schema.Array(Message), filling: Schema.String, key: Schema.Literals(["messages", "input"]) },
    ({ filling, key, messages }) => {
      const marker = "{{inspo:support/tone|as } you\nlike}}"
      const body = (contents: ReadonlyArray<Schema.Json>): Schema.Json => ({
        model: marker,
        [key]: messages.map(({ role }, index) => ({ role, content: contents[index] ?? null }))
      })
      const given = body(messages.map((one) => contentOf(one, marker)))
      const found = Result.getOrThrow(Marker.find(given))
      assert.lengthOf(found, messages.filter((one) => one.isMarked && isPrompt(one)).length)
      for (const one of found)
        assert.deepEqual(one, { population: "support", text: "tone", fallback: "as } you\nlike" })
      assert.deepEqual(
        Marker.fill(given, () => filling),
        body(messages.map((one) => (isPrompt(one) ? filledContent(one, marker, filling) : contentOf(one, marker))))
      )
    }
  )
})
