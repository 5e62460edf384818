import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Response } from "effect/ai"
import * as Metering from "../src/Metering.ts"

const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3000 }))

const Count = Schema.UndefinedOr(Schema.Literals([0, 1, 100, 5000]))

const usage = (input: number | undefined, output: number | undefined) =>
  Response.Usage.make({
    inputTokens: { total: input, uncached: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined }
  })

describe("measure", () => {
  it.effect.prop(
    "books what the server counts, or an estimate where it counts nothing",
    [Size, Size, Count, Count],
    ([asked, answered, input, output]) =>
      Effect.gen(function* () {
        const options = {
          price: { model: "m", input: 1, output: 1 },
          maxOutputTokens: 100,
          countTokens: (text: string) => text.length
        }
        const answer = { text: "a".repeat(answered), usage: usage(input, output) }
        const [, spent] = yield* Metering.measure(options)(["p".repeat(asked)], Effect.succeed(answer))
        const booked = (told: number | undefined, estimate: number) =>
          told === undefined || told === 0 ? estimate : told
        const tokens = booked(input, asked) + booked(output, answered)
        assert.deepStrictEqual(spent, { calls: 1, tokens, usd: tokens / 1e6 })
      })
  )
})
