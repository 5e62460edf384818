import { RandomStream } from "@inspo/domain"
import { Array as Arr, Schema } from "effect"

/**
 * The size of a decoder-only transformer.
 *
 * `width` is the size of the residual stream, split over `heads` query heads; `keyValueHeads` of them keep keys and
 * values (1 is multi-query attention). The feed-forward layer is `feedForward` times as wide as the stream. `context`
 * is the number of learned positions.
 */
export const ModelConfig = Schema.Struct({
  vocabulary: Schema.Int.check(Schema.isGreaterThan(0)),
  width: Schema.Int.check(Schema.isGreaterThan(0)),
  layers: Schema.Int.check(Schema.isGreaterThan(0)),
  heads: Schema.Int.check(Schema.isGreaterThan(0)),
  keyValueHeads: Schema.Int.check(Schema.isGreaterThan(0)),
  feedForward: Schema.Int.check(Schema.isGreaterThan(0)),
  context: Schema.Int.check(Schema.isGreaterThan(0))
}).check(
  Schema.makeFilter((config) =>
    config.width % config.heads !== 0
      ? `width ${config.width} must be a multiple of heads ${config.heads}`
      : config.heads % config.keyValueHeads !== 0
        ? `heads ${config.heads} must be a multiple of keyValueHeads ${config.keyValueHeads}`
        : undefined
  )
)
export interface ModelConfig extends Schema.Schema.Type<typeof ModelConfig> {}

/** Where one parameter matrix is in the flat array, and the standard deviation it starts with. */
export interface Parameter {
  readonly name: string
  readonly shape: readonly [rows: number, columns: number]
  readonly offset: number
  readonly size: number
  readonly deviation: number
}

/** Size of one attention head. */
export const headWidth = (config: ModelConfig): number => config.width / config.heads

/** Size of the keys (or the values) of one position, all key-value heads together. */
export const keyValueWidth = (config: ModelConfig): number => config.keyValueHeads * headWidth(config)

/**
 * The parameters in the order in which one flat `Float32Array` holds them, each row-major:
 *
 * - `emb` `[vocabulary, width]`: token embeddings, also the output head;
 * - `pos` `[context, width]`: position embeddings;
 * - `shift` `[width, width]`: maps the previous token's embedding into the input;
 * - per layer `l`: `qkv{l}` `[width, width + 2 · keyValueWidth]`, `out{l}` `[width, width]`,
 *   `up{l}` `[width, feedForward · width]`, `down{l}` `[feedForward · width, width]`.
 *
 * Matrices that write into the residual stream start smaller by √(2 · layers), as in GPT-2.
 */
export const parameterLayout = (config: ModelConfig): ReadonlyArray<Parameter> => {
  const { width, layers } = config
  const hidden = config.feedForward * width
  const residual = Math.sqrt(2 * layers)
  const matrices: ReadonlyArray<Omit<Parameter, "offset" | "size">> = [
    { name: "emb", shape: [config.vocabulary, width], deviation: 0.02 },
    { name: "pos", shape: [config.context, width], deviation: 0.02 },
    { name: "shift", shape: [width, width], deviation: 1 / Math.sqrt(width) },
    ...Arr.flatten(
      Arr.makeBy(layers, (layer): ReadonlyArray<Omit<Parameter, "offset" | "size">> => [
        { name: `qkv${layer}`, shape: [width, width + 2 * keyValueWidth(config)], deviation: 1 / Math.sqrt(width) },
        { name: `out${layer}`, shape: [width, width], deviation: 1 / Math.sqrt(width) / residual },
        { name: `up${layer}`, shape: [width, hidden], deviation: 1 / Math.sqrt(width) },
        { name: `down${layer}`, shape: [hidden, width], deviation: 1 / Math.sqrt(hidden) / residual }
      ])
    )
  ]
  const [, parameters] = Arr.mapAccum(matrices, 0, (offset, { name, shape, deviation }) => {
    const size = shape[0] * shape[1]
    return [offset + size, { name, shape, offset, size, deviation }]
  })
  return parameters
}

/** Number of parameters: the length of the flat array. */
export const parameterCount = (config: ModelConfig): number =>
  parameterLayout(config).reduce((total, { size }) => total + size, 0)

/** Normal draws with the deviations of `parameterLayout`; equal seeds give equal bits. */
export const initialParameters = (config: ModelConfig, seed: string): Float32Array<ArrayBuffer> => {
  const flat = new Float32Array(parameterCount(config))
  const normal = normalDraws(seed)
  for (const { offset, size, deviation } of parameterLayout(config)) {
    for (let index = offset; index < offset + size; index++) flat[index] = deviation * normal()
  }
  return flat
}

/** The named matrices of a flat array, as views that share its memory. */
export const views = <B extends ArrayBufferLike>(
  config: ModelConfig,
  flat: Float32Array<B>
): Readonly<Record<string, Float32Array<B>>> =>
  Object.fromEntries(
    parameterLayout(config).map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)])
  )

/** Standard normal draws by the Box-Muller transform (Box and Muller, 1958), one of each pair. */
const normalDraws = (seed: string): (() => number) => {
  const { next } = RandomStream.fromText(seed)
  return () => {
    const radius = Math.sqrt(-2 * Math.log(1 - next()))
    return radius * Math.cos(2 * Math.PI * next())
  }
}
