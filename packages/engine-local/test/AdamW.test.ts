import { assert, describe, it } from "@effect/vitest"
import { AdamW } from "@inspo/engine-local"
import { Schema } from "effect"

/** Halves: nothing so small that its square is lost in float32. */
const Value = Schema.Literals([-3, -1.5, -0.5, 0, 0.5, 2, 3])
const Options = Schema.Struct({
  learningRate: Schema.Literals([0, 0.01, 0.1]),
  beta1: Schema.Literals([0, 0.5, 0.9]),
  beta2: Schema.Literals([0.5, 0.9, 0.999]),
  weightDecay: Schema.Literals([0, 0.01, 0.5]),
  gradientClip: Schema.Literals([0, 0.5, 100])
})
/** Gradients of up to five updates of three parameters. */
const Gradients = Schema.Array(Schema.Tuple([Value, Value, Value])).check(Schema.isMaxLength(5))
const Parameters = Schema.Tuple([Value, Value, Value])

/** The same algorithm on one parameter in double precision, written from the paper's lines. */
const reference = (start: number, gradients: ReadonlyArray<number>, o: AdamW.AdamWOptions): number => {
  let [theta, m, v] = [start, 0, 0]
  gradients.forEach((g, index) => {
    m = o.beta1 * m + (1 - o.beta1) * g
    v = o.beta2 * v + (1 - o.beta2) * g * g
    const mHat = m / (1 - o.beta1 ** (index + 1))
    const vHat = v / (1 - o.beta2 ** (index + 1))
    theta -= o.learningRate * (mHat / (Math.sqrt(vHat) + 1e-8) + o.weightDecay * theta)
  })
  return theta
}

const run = (start: ReadonlyArray<number>, gradients: ReadonlyArray<ReadonlyArray<number>>, o: AdamW.AdamWOptions) => {
  const parameters = Float32Array.from(start)
  const state = AdamW.make(parameters.length)
  const norms = gradients.map((gradient) => AdamW.update(parameters, Float32Array.from(gradient), state, o))
  return { parameters, state, norms }
}

describe("AdamW", () => {
  it.prop(
    "updates each parameter as the scalar algorithm does",
    [Parameters, Gradients, Options],
    ([start, all, o]) => {
      const { parameters, norms } = run(start, all, o)
      const clipped = all.map((gradient) => {
        const norm = Math.hypot(...gradient)
        return gradient.map((g) => (o.gradientClip > 0 && norm > o.gradientClip ? (g * o.gradientClip) / norm : g))
      })
      start.forEach((theta, index) => {
        const gradients = clipped.map((gradient) => Math.fround(gradient[index] ?? 0))
        assert.closeTo(parameters[index] ?? NaN, reference(theta, gradients, o), 1e-5)
      })
      all.forEach((gradient, index) => assert.closeTo(norms[index] ?? NaN, Math.hypot(...gradient), 1e-5))
    }
  )

  it.prop(
    "moves by at most the learning rate at first, against the gradient",
    [Parameters, Options],
    ([gradient, o]) => {
      const { parameters } = run([0, 0, 0], [gradient], o)
      parameters.forEach((moved, index) => {
        assert.isAtMost(Math.abs(moved), o.learningRate * (1 + 1e-5))
        assert.isAtMost(moved * (gradient[index] ?? 0), 0)
      })
    }
  )

  it.prop(
    "is taken as a whole or not at all, where something is not finite",
    [
      Parameters,
      Gradients,
      Options,
      Schema.Literals(["0.1", "1e30", "Infinity"]),
      Schema.Literals(["0", "1e25", "NaN"])
    ],
    ([start, all, o, learningRate, odd]) => {
      const gradient = Float32Array.of(1, Number(odd), -1)
      const options = { ...o, learningRate: Number(learningRate) }
      const updated = run(start, all, o)
      AdamW.update(updated.parameters, gradient, updated.state, options)
      const tried = run(start, all, o)
      const norm = AdamW.tryUpdate(tried.parameters, gradient, tried.state, options)
      const values = [updated.parameters, updated.state.first, updated.state.second].flatMap((some) => Array.from(some))
      const isUsable = values.every((value) => Number.isFinite(Math.fround(value ** 2)))
      assert.strictEqual(norm !== null, isUsable)
      const { parameters, state } = isUsable ? updated : run(start, all, o)
      assert.deepStrictEqual({ parameters: tried.parameters, state: tried.state }, { parameters, state })
    }
  )

  it.prop("only decays without a gradient", [Parameters, Options], ([start, o]) => {
    const { parameters } = run(start, [[0, 0, 0]], o)
    assert.deepStrictEqual(
      Array.from(parameters, (theta) => theta + 0),
      start.map((theta) => Math.fround(Math.fround(theta) * (1 - o.learningRate * o.weightDecay)) + 0)
    )
  })

  it.prop("continues from a copied state as from its own", [Parameters, Gradients, Options], ([start, all, o]) => {
    const whole = run(start, [...all, ...all], o)
    const half = run(start, all, o)
    const state = AdamW.make(3)
    AdamW.assign(state, half.state)
    for (const gradient of all) AdamW.update(half.parameters, Float32Array.from(gradient), state, o)
    assert.deepStrictEqual(half.parameters, whole.parameters)
  })
})
