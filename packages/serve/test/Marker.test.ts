import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Marker from "../src/http/internal/Marker.ts"

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

/** What a marker means, in a pattern whose time is quadratic. */
const meaning = /\{\{inspo:([A-Za-z0-9][\w.-]{0,199})(?:\/([^|{}]{1,200}))?(?:\|(.*?))?\}\}/gsu

/** What markers are made of, and what they are nearly. */
const pieces = "{{inspo: {{inspo:a {{inspo:a}} {{inspo:b/c|d}} a / | }} } { {{ -. \n é 😀"
  .split(" ")
  .concat([198, 199, 200].map((length) => "x".repeat(length)))

const messagesOf = (...systems: ReadonlyArray<string>): string =>
  JSON.stringify({ messages: systems.map((content) => ({ role: "system", content })) })

describe("a marker", () => {
  it.prop(
    "is filled in system prompts, whatever stands around it, and nowhere else",
    { messages: Schema.Array(Message), filling: Schema.String, key: Schema.Literals(["messages", "input"]) },
    ({ filling, key, messages }) => {
      const marker = "{{inspo:support/tone|as } you\nlike}}"
      const body = (contents: ReadonlyArray<Schema.Json>): string =>
        JSON.stringify({
          model: marker,
          [key]: messages.map(({ role }, index) => ({ role, content: contents[index] ?? null }))
        })
      const given = body(messages.map((one) => contentOf(one, marker)))
      const { fill, markers } = Result.getOrThrow(Marker.find(given))
      assert.lengthOf(markers, messages.filter((one) => one.isMarked && isPrompt(one)).length)
      for (const { fallback, population, text } of markers)
        assert.deepEqual([population, text, fallback], ["support", "tone", "as } you\nlike"])
      assert.deepEqual(
        JSON.parse(fill(() => filling)),
        JSON.parse(
          body(messages.map((one) => (isPrompt(one) ? filledContent(one, marker, filling) : contentOf(one, marker))))
        )
      )
    }
  )

  it.prop(
    "is found where the pattern that defines it finds one",
    { choices: Schema.Array(Schema.Int) },
    ({ choices }) => {
      const prompt = choices.map((choice) => pieces[Math.abs(choice) % pieces.length]).join("")
      const expected = [...prompt.matchAll(meaning)].map(
        ({ 0: { length }, 1: population, 2: text, 3: fallback, index }) => ({
          population,
          text: text ?? null,
          fallback: fallback ?? null,
          start: index,
          end: index + length
        })
      )
      assert.deepEqual<ReadonlyArray<unknown>>(Marker.scan(prompt), expected)
    }
  )

  it("takes a time that grows with the length of a body alone, whatever it holds", () => {
    const large = 1_000_000
    const parts = [
      "{{inspo:a|",
      "{{inspo:a/",
      "{{inspo:a/b|",
      "{{inspo:",
      `{{inspo:${"a".repeat(200)}`,
      "{{",
      "}}{{inspo:a|}"
    ]
    for (const part of parts)
      for (const end of ["", "}}"]) {
        const prompt = part.repeat(large / part.length) + end
        const began = process.cpuUsage()
        Marker.find(messagesOf(prompt))
        assert.isBelow(process.cpuUsage(began).user / 1000, 1000, part)
      }
    for (const body of [
      `{"messages":${"[".repeat(large)}${"]".repeat(large)}}`,
      `{"messages":[${'{"role":"system"},'.repeat(large / 20)}1]}`,
      `{${'"messages":[],'.repeat(large / 14)}"a":1}`,
      `{"messages":${" ".repeat(large)}[]}`
    ]) {
      const began = process.cpuUsage()
      assert.isTrue(Result.isSuccess(Marker.find(body)))
      assert.isBelow(process.cpuUsage(began).user / 1000, 1000, body.slice(0, 30))
    }
  })

  it("is replaced alone: all else of a body stays to the byte", () => {
    const before = ' {"seed" : 9007199254740993, "messages":[{"role":"us\\u0065r","content":"{{inspo:a}}"}],'
    const prompt = '"instructions": "\\u00e9\\/\\ud83d\\ude00 \\u007b{inspo:a|x\\"y}}\\t{{inspo:a}}\\ud800 \\\\é"'
    const after = ', "instructions2": 1e400 , "temperature":0.10, "messages":[] }\r\n'
    const { fill, markers } = Result.getOrThrow(Marker.find(`\uFEFF${before}${prompt}${after}`))
    assert.deepEqual(
      markers.map(({ fallback }) => fallback),
      ['x"y', null]
    )
    assert.strictEqual(
      fill(() => 'Be "kind".\n'),
      `\uFEFF${before}"instructions": "\\u00e9\\/\\ud83d\\ude00 Be \\"kind\\".\\n\\tBe \\"kind\\".\\n\\ud800 \\\\é"${after}`
    )
  })

  it("may be there many times, and no more: what fills them is long", () => {
    assert.isTrue(Result.isSuccess(Marker.find(messagesOf("{{inspo:a}}".repeat(64)))))
    assert.deepEqual(
      Marker.find(messagesOf("{{inspo:a}}".repeat(65))),
      Result.fail("there are 65 markers; expected at most 64")
    )
  })
})
