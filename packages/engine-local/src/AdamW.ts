import type { TrainRequest } from "@inspo/engine"

/** Moments of the optimizer and the number of updates made; the arrays are changed in place. */
export interface AdamWState {
  readonly first: Float32Array
  readonly second: Float32Array
  updates: number
}

/** `epsilon` defaults to 1e-8; `gradientClip` is the largest global norm, 0 for none. */
export type AdamWOptions = TrainRequest["optimizer"]

/** The state before the first update of `size` parameters. */
export const make = (size: number): AdamWState => ({
  first: new Float32Array(size),
  second: new Float32Array(size),
  updates: 0
})

/** Overwrites `state` with `source`, whose arrays must be as long. */
export const assign = (state: AdamWState, source: AdamWState): void => {
  state.first.set(source.first)
  state.second.set(source.second)
  state.updates = source.updates
}

/**
 * An {@link update}, or null where it would leave parameters or moments that cannot be reckoned with: what is not finite,
 * or whose square is not. `parameters` and `state` then stay as they were.
 */
export const tryUpdate = (
  parameters: Float32Array,
  gradient: Float32Array,
  state: AdamWState,
  options: AdamWOptions
): number | null => {
  const before = parameters.slice()
  const stateBefore = { first: state.first.slice(), second: state.second.slice(), updates: state.updates }
  const norm = update(parameters, gradient, state, options)
  if (Number.isFinite(norm) && [parameters, state.first, state.second].every(isUsable)) return norm
  parameters.set(before)
  assign(state, stateBefore)
  return null
}

const isUsable = (values: Float32Array): boolean => {
  // An indexed loop: `every` calls a function for each value, which takes ten times as long.
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i] ?? 0) < largest)) return false
  return true
}

/** The square of what is below is finite in 32 bits. */
const largest = 2 ** 64

/**
 * One AdamW update (Loshchilov and Hutter, 2019, algorithm 2) of flat arrays of equal length, in place; `gradient` is
 * only read. With ĝ the gradient scaled down to the norm `gradientClip`, and m̂, v̂ the bias-corrected moments,
 * θ ← θ − η · (m̂ / (√v̂ + ε) + λθ). Returns the norm of `gradient` before clipping.
 */
export const update = (
  parameters: Float32Array,
  gradient: Float32Array,
  state: AdamWState,
  options: AdamWOptions
): number => {
  const { beta1, beta2, learningRate } = options
  const { first, second } = state
  const epsilon = options.epsilon ?? 1e-8
  const norm = globalNorm(gradient)
  const scale = options.gradientClip > 0 && norm > options.gradientClip ? options.gradientClip / norm : 1
  state.updates += 1
  const stepSize = learningRate / (1 - beta1 ** state.updates)
  const secondCorrection = 1 / (1 - beta2 ** state.updates)
  const decay = 1 - learningRate * options.weightDecay
  // Indexed loops over typed arrays of one length: the fallbacks are never taken and cost nothing.
  for (let i = 0; i < parameters.length; i++) {
    const g = (gradient[i] ?? 0) * scale
    const m = (first[i] ?? 0) * beta1 + (1 - beta1) * g
    const v = (second[i] ?? 0) * beta2 + (1 - beta2) * g * g
    first[i] = m
    second[i] = v
    parameters[i] = (parameters[i] ?? 0) * decay - (stepSize * m) / (Math.sqrt(v * secondCorrection) + epsilon)
  }
  return norm
}

const globalNorm = (gradient: Float32Array): number => {
  let sum = 0
  for (let i = 0; i < gradient.length; i++) sum += (gradient[i] ?? 0) ** 2
  return Math.sqrt(sum)
}
