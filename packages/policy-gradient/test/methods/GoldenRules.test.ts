import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { credits } from "../../src/Credits.ts"
import { discounted } from "../../src/credits/Discount.ts"
import { mostVaried } from "../../src/Keep.ts"
import { losses } from "../../src/Losses.ts"
import { icpo } from "../../src/losses/Icpo.ts"
import { close } from "../support/Batches.ts"

const Numbers = Schema.Array(Schema.Finite)
const Constants = Schema.Record(Schema.String, Schema.Union([Schema.Finite, Numbers]))
const Turn = Schema.Struct({
  score: Schema.optionalKey(Schema.Finite),
  critical: Schema.optionalKey(Schema.Boolean),
  information: Schema.optionalKey(Schema.Finite),
  state: Schema.optionalKey(Schema.String),
  reward: Schema.optionalKey(Schema.Finite)
})
const Episode = Schema.Struct({ reward: Schema.Finite, advantage: Schema.Finite, turns: Schema.Array(Turn) })
const Named = { name: Schema.String, constants: Constants }
const Golden = Schema.fromJsonString(
  Schema.Struct({
    tokens: Schema.Array(Schema.Struct({ ...Named, ratios: Numbers, advantages: Numbers, weights: Numbers })),
    sequences: Schema.Array(Schema.Struct({ ...Named, ratios: Numbers, advantage: Schema.Finite, weights: Numbers })),
    demonstrations: Schema.Array(Schema.Struct({ p: Schema.Finite, weight: Schema.Finite })),
    credits: Schema.Array(Schema.Struct({ ...Named, episodes: Schema.Array(Episode), output: Schema.Array(Numbers) })),
    discounted: Schema.Array(
      Schema.Struct({ reward: Schema.Finite, turns: Schema.Finite, gamma: Schema.Finite, output: Numbers })
    ),
    mostVaried: Schema.Array(Schema.Struct({ values: Numbers, count: Schema.Finite, output: Numbers }))
  })
)

/** Values of an executable reference of the formulas that was written apart from this package. */
const golden = Schema.decodeSync(Golden)(readFileSync(new URL("golden-rules.json", import.meta.url), "utf8"))

/** Tokens of probability 0.3 when they were sampled. */
const ofRatios = (ratios: ReadonlyArray<number>, advantages: ReadonlyArray<number>) => ({
  logprobs: ratios.map((ratio) => Math.log(0.3 * ratio)),
  old: ratios.map(() => Math.log(0.3)),
  advantages
})

const named = <A extends { readonly name: string }>(all: ReadonlyArray<A>, name: string): A => {
  const found = all.find((one) => one.name === name)
  assert.isDefined(found, name)
  return found
}

describe("golden values", () => {
  it.each(golden.tokens)("of $name, token by token", ({ advantages, constants, name, ratios, weights }) => {
    const { weights: weightsOf } = named(losses, name)
    const found = ratios.map(
      (ratio, index) => weightsOf(ofRatios([ratio], [advantages[index] ?? 0]), constants)[0] ?? 0
    )
    close(found, weights)
  })

  it("of losses of sequences", () => {
    for (const { advantage, constants, name, ratios, weights } of golden.sequences)
      close(
        named(losses, name).weights(
          ofRatios(
            ratios,
            ratios.map(() => advantage)
          ),
          constants
        ),
        weights
      )
  })

  it("of demonstrations", () => {
    for (const { p, weight } of golden.demonstrations)
      close(icpo.weights({ logprobs: [Math.log(p)], old: [0], advantages: [1] }), [weight])
  })

  it("of credit", () => {
    for (const { constants, episodes, name, output } of golden.credits)
      close(named(credits, name).of(episodes, constants).flat(), output.flat())
    for (const { gamma, output, reward, turns } of golden.discounted) close(discounted(reward, turns, gamma), output)
  })

  it("of the most varied values", () => {
    for (const { count, output, values } of golden.mostVaried) close(mostVaried(values, count), output)
  })
})
