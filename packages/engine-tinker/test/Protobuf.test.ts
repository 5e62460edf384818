import { Protobuf } from "@inspo/engine-tinker"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const Token = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 }))
const Float = Schema.Finite.check(Schema.isBetween({ minimum: -100, maximum: 100 }))
const Row = Schema.Struct({ token: Token, value: Float })
const Rows = Schema.NonEmptyArray(Row)

/** Any numbers that 64 bits hold and a double tells apart. */
const Wide = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }))
).pipe(
  Schema.check(Schema.makeFilter((values: ReadonlyArray<number>) => values.every((value) => !Object.is(value, -0))))
)

const float32 = (values: ReadonlyArray<number>) => values.map(Math.fround)

describe("Protobuf", () => {
  it.prop("carries samples, numbers as float32", [Schema.Array(Rows), Schema.Boolean], ([sequences, stopped]) => {
    const response = {
      sequences: sequences.map((rows) => ({
        stop_reason: stopped ? ("stop" as const) : ("length" as const),
        tokens: rows.map(({ token }) => token),
        logprobs: float32(rows.map(({ value }) => value))
      })),
      prompt_logprobs: [null, ...float32(sequences.flatMap((rows) => rows.map(({ value }) => value)))]
    }
    const read = Protobuf.decodeSampleResponse(Protobuf.encodeSampleResponse(response))
    assert.deepStrictEqual(Result.getOrThrow(read), response)
  })

  it.prop(
    "carries losses to differentiate",
    [Schema.Array(Rows), Schema.Boolean, Wide],
    ([datums, forwardOnly, wide]) => {
      const request = {
        modelId: "m",
        seqId: 7,
        forwardOnly,
        input: {
          loss_fn: "ppo" as const,
          loss_fn_config: { clip_low_threshold: 0.8 },
          data: datums.map((rows) => {
            const tokens = rows.map(({ token }) => token)
            return {
              model_input: { chunks: [{ type: "encoded_text" as const, tokens }] },
              loss_fn_inputs: {
                target_tokens: { data: tokens, dtype: "int64" as const, shape: [rows.length] },
                wide: { data: wide, dtype: "int64" as const, shape: [wide.length] },
                advantages: {
                  data: float32(rows.map(({ value }) => value)),
                  dtype: "float32" as const,
                  shape: [rows.length]
                }
              }
            }
          })
        }
      }
      const read = Protobuf.decodeForwardBackward(Protobuf.encodeForwardBackward(request))
      assert.deepStrictEqual(Result.getOrThrow(read), request)
    }
  )

  it.prop("carries the outputs of datums of unequal length", [Schema.Array(Rows)], ([datums]) => {
    const output = {
      loss_fn_output_type: "scalar",
      loss_fn_outputs: datums.map((rows) => ({
        logprobs: { data: float32(rows.map(({ value }) => value)), dtype: "float32" as const, shape: [rows.length] }
      })),
      metrics: { "loss:sum": 0.1 }
    }
    const read = Protobuf.decodeForwardBackwardOutput(Protobuf.encodeForwardBackwardOutput(output))
    assert.deepStrictEqual(Result.getOrThrow(read), output)
  })

  it("refuses bytes that are cut off", () => {
    const whole = Protobuf.encodeSampleResponse({
      sequences: [{ stop_reason: "stop", tokens: [1, 2], logprobs: [-1, -2] }]
    })
    assert.isTrue(Result.isFailure(Protobuf.decodeSampleResponse(whole.slice(0, -3))))
  })
})
