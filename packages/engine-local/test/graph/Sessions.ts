import { RandomStream } from "@inspo/domain"
import type { Program } from "../../src/graph/Program.ts"
import { sessionOptions } from "../../src/internal/Kernel.ts"
import { Effect } from "effect"
import { InferenceSession, Tensor } from "onnxruntime-node"

export type Values = Readonly<Record<string, Float32Array | BigInt64Array>>
export type Results = Readonly<Record<string, Float32Array>>

// Denormals as they are: to take them as zero would hold for the whole thread, and so for every test after these.
const options = { ...sessionOptions, extra: {} }

/** A function that runs the program; it fails on a missing or surplus input and on one of the wrong size. */
export const open = (program: Program): Effect.Effect<(values: Values) => Effect.Effect<Results>> =>
  Effect.map(
    Effect.promise(() => InferenceSession.create(program.bytes, options)),
    (session) => (values) =>
      Effect.promise(async () => {
        const feeds = Object.fromEntries(
          program.inputs.map(({ name, type, shape }) => {
            const data = values[name]
            if (data === undefined) throw new Error(`no value for the input ${name}`)
            return [name, new Tensor(type, data, shape)]
          })
        )
        const sizes = Object.entries(program.sizes).map(
          ([name, values]) => [name, new Tensor("int64", values, [values.length])] as const
        )
        const results = await session.run({ ...feeds, ...Object.fromEntries(sizes) })
        return Object.fromEntries(
          program.outputs.map(({ name }) => {
            const data = results[name]?.data
            if (!(data instanceof Float32Array)) throw new Error(`the output ${name} is not float32`)
            return [name, data]
          })
        )
      })
  )

export const run = (program: Program, values: Values): Effect.Effect<Results> =>
  Effect.flatMap(open(program), (evaluate) => evaluate(values))

/** The value under a name that must be there. */
export const at = <A>(values: Readonly<Record<string, A>>, name: string): A => {
  const value = values[name]
  if (value === undefined) throw new Error(`nothing is called ${name}`)
  return value
}

/** Normal draws from a named stream. */
export const normals = (seed: string, length: number): Float32Array => {
  const random = randomOf(seed)
  return Float32Array.from({ length }, () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))
}

/** Integers in `[0, below)` from a named stream. */
export const integers = (seed: string, length: number, below: number): Array<number> => {
  const random = randomOf(seed)
  return Array.from({ length }, () => Math.floor(random() * below))
}

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0)
  return sum
}

/** Largest difference, relative to the largest value of `expected`. */
export const distance = (actual: ArrayLike<number>, expected: ArrayLike<number>): number => {
  let difference = 0
  let scale = 0
  for (let index = 0; index < expected.length; index++) {
    difference = Math.max(difference, Math.abs((actual[index] ?? Number.NaN) - (expected[index] ?? Number.NaN)))
    scale = Math.max(scale, Math.abs(expected[index] ?? 0))
  }
  return difference / Math.max(scale, 1e-12)
}

/**
 * Relative error of `gradient` along a direction that is part gradient, part random, against the five-point difference
 * of `value`, which takes a changed copy of `point`.
 */
export const gradientError = Effect.fnUntraced(function* (options: {
  readonly seed: string
  readonly point: Float32Array
  readonly gradient: Float32Array
  readonly value: (point: Float32Array) => Effect.Effect<number>
  readonly step: number
}) {
  const { point, gradient, step } = options
  const norm = Math.sqrt(dot(gradient, gradient))
  if (!(norm > 0)) return yield* Effect.die(new Error(`a gradient of norm ${norm} checks nothing`))
  const noise = normals(options.seed, point.length)
  const noiseNorm = Math.sqrt(dot(noise, noise))
  const direction = point.map(
    (_, index) => (0.7 * (gradient[index] ?? 0)) / norm + (0.5 * (noise[index] ?? 0)) / noiseNorm
  )
  const along = (steps: number) =>
    options.value(point.map((value, index) => value + steps * step * (direction[index] ?? 0)))
  const near = (yield* along(1)) - (yield* along(-1))
  const far = (yield* along(2)) - (yield* along(-2))
  return Math.abs((8 * near - far) / (12 * step) / dot(gradient, direction) - 1)
})

const randomOf = (seed: string): (() => number) => RandomStream.fromText(seed).next
