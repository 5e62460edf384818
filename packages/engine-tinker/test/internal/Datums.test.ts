import { assert, describe, it } from "@effect/vitest"
import type { Datum } from "@inspo/engine"
import { Profile, type Wire } from "@inspo/engine-tinker"
import { Schema } from "effect"
import * as Datums from "../../src/internal/client/Datums.ts"

const Token = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))
const Value = Schema.Finite.check(Schema.isBetween({ minimum: -2, maximum: 2 }))
const Row = Schema.Struct({ token: Token, logprob: Value, advantage: Value, isAction: Schema.Boolean, weight: Value })
const Example = Schema.Struct({ prompt: Schema.NonEmptyArray(Token), rows: Schema.NonEmptyArray(Row) })
const Batch = Schema.Array(Example)

const toDatum = ({ prompt, rows }: typeof Example.Type): Datum => ({
  prompt,
  response: rows.map(({ token }) => token),
  logprobs: rows.map(({ logprob }) => logprob),
  advantages: rows.map(({ advantage }) => advantage),
  weights: rows.map(({ isAction, weight }) => (isAction ? Math.abs(weight) + 0.01 : 0))
})

const surrogate = (old: number, advantage: number) => {
  const ratio = Math.exp(-0.5 - old)
  return Math.min(ratio * advantage, Math.min(Math.max(ratio, 0.8), 1.2) * advantage)
}

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const inputOf = ({ loss_fn_inputs }: Wire.Datum, name: string) => loss_fn_inputs[name]?.data ?? []

/** The objective as the server of a profile reduces it, every log-probability being -0.5. */
const reduce = (datums: ReadonlyArray<Wire.Datum>, profile: Profile.Profile): number => {
  const perDatum = datums.map((datum) => {
    const mask = profile.mask === null ? null : inputOf(datum, profile.mask.name)
    const advantages = inputOf(datum, "advantages")
    const total = sum(
      inputOf(datum, "logprobs").map((old, at) => (mask?.[at] ?? 1) * surrogate(old, advantages[at] ?? NaN))
    )
    return profile.reduction === "sum" ? total : total / sum(mask ?? [])
  })
  return profile.reduction === "sum" ? sum(perDatum) : sum(perDatum) / Math.max(1, datums.length)
}

describe("Datums", () => {
  for (const profile of Object.values(Profile.byName)) {
    it.prop(`give the weighted sum of Eq. 2 on ${profile.name}`, [Batch], ([examples]) => {
      const datums = examples.map(toDatum)
      const expected = sum(
        datums.flatMap(({ advantages, logprobs, weights }) =>
          weights.map((weight, at) => weight * surrogate(logprobs[at] ?? NaN, advantages[at] ?? NaN))
        )
      )
      const reduced = reduce(Datums.training(datums, profile), profile)
      assert.closeTo(reduced, expected, 1e-9 * Math.max(1, Math.abs(expected)))
    })
  }

  it.prop("have inputs parallel to the model input, each token predicting the next", [Example], ([example]) => {
    const datum = toDatum(example)
    const full = [...datum.prompt, ...datum.response]
    const [scored] = Datums.scoring([datum])
    if (scored === undefined) return assert.fail("no datum")
    const input = scored.model_input.chunks.flatMap(({ tokens }) => tokens)
    assert.deepStrictEqual(input, full.slice(0, -1))
    assert.deepStrictEqual(inputOf(scored, "target_tokens"), full.slice(1))
    for (const { data } of Object.values(scored.loss_fn_inputs)) assert.lengthOf(data, input.length)
    assert.deepStrictEqual(Datums.ofResponse(inputOf(scored, "target_tokens"), datum), datum.response)
  })

  it.prop(
    "are chunked in order, within the limits",
    [Batch, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })), Schema.Boolean],
    ([examples, most, protobuf]) => {
      const datums = Datums.training(examples.map(toDatum), Profile.inspo)
      const bytes = 3000
      const chunks = Datums.chunks(datums, { most, bytes, protobuf })
      assert.deepStrictEqual(chunks.flat(), datums)
      for (const chunk of chunks) {
        assert.isTrue(chunk.length >= 1 && chunk.length <= most)
        if (chunk.length > 1 && !protobuf) assert.isAtMost(JSON.stringify(chunk).length, bytes + 100)
      }
    }
  )
})
