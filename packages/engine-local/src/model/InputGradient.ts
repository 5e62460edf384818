import type { ModelConfig } from "./ModelConfig.ts"

/** The gradient of a program's input rows, `dx0` and `dprev`, with the indices that gathered them. */
interface InputGradient {
  readonly tokens: BigInt64Array
  readonly previous: BigInt64Array
  readonly positions: BigInt64Array
  readonly dx0: Float32Array
  readonly dprev: Float32Array
}

/**
 * Adds the gradient of the gathered rows to the `emb` and `pos` parts of a flat gradient, in place: the backward pass
 * of the look-ups `emb[token] + pos[position]` and `emb[previous]`.
 */
export const scatterInputGradient = (config: ModelConfig, input: InputGradient, gradient: Float32Array): void => {
  const { width } = config
  const pos = config.vocabulary * width
  for (let row = 0; row < input.tokens.length; row++) {
    const from = row * width
    const token = Number(input.tokens[row]) * width
    const previous = Number(input.previous[row]) * width
    const position = pos + Number(input.positions[row]) * width
    for (let column = 0; column < width; column++) {
      const dx0 = input.dx0[from + column] ?? 0
      gradient[token + column] = (gradient[token + column] ?? 0) + dx0
      gradient[position + column] = (gradient[position + column] ?? 0) + dx0
      gradient[previous + column] = (gradient[previous + column] ?? 0) + (input.dprev[from + column] ?? 0)
    }
  }
}
