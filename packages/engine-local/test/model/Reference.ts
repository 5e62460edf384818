import { ModelConfig } from "@inspo/engine-local"

type Matrix = ReadonlyArray<ReadonlyArray<number>>

/** The definition of the model in double precision: the log-probability of every token of a sequence but the first. */
export const referenceLogprobs = (
  config: ModelConfig.ModelConfig,
  flat: Float32Array,
  sequence: ReadonlyArray<number>
): ReadonlyArray<number> => {
  const parameters = new Map(
    ModelConfig.parameterLayout(config).map(({ name, offset, shape: [rows, columns] }): readonly [string, Matrix] => [
      name,
      Array.from({ length: rows }, (_, row) =>
        Array.from(flat.subarray(offset + row * columns, offset + (row + 1) * columns))
      )
    ])
  )
  const named = (name: string): Matrix => parameters.get(name) ?? []
  const emb = named("emb")
  let x = sequence.slice(0, -1).map((token, position) => {
    const shifted = times(emb[sequence[position - 1] ?? 0] ?? [], named("shift"))
    return sum(sum(emb[token] ?? [], named("pos")[position] ?? []), shifted)
  })
  for (let layer = 0; layer < config.layers; layer++) {
    const qkv = x.map((row) => times(normalize(row), named(`qkv${layer}`)))
    x = x.map((row, position) => {
      const heads = Array.from({ length: config.heads }, (_, head) => attend(config, qkv, position, head)).flat()
      const attended = sum(row, times(heads, named(`out${layer}`)))
      const hidden = times(normalize(attended), named(`up${layer}`)).map((value) => Math.max(value, 0) ** 2)
      return sum(attended, times(hidden, named(`down${layer}`)))
    })
  }
  return x.map((row, position) => {
    const logits = emb.map((embedding) => inner(normalize(row), embedding))
    return Math.log(softmax(logits)[sequence[position + 1] ?? 0] ?? 0)
  })
}

const attend = (
  config: ModelConfig.ModelConfig,
  qkv: Matrix,
  position: number,
  head: number
): ReadonlyArray<number> => {
  const width = ModelConfig.headWidth(config)
  const shared = Math.floor(head / (config.heads / config.keyValueHeads)) * width
  const slice = (row: ReadonlyArray<number>, start: number) => row.slice(start, start + width)
  const query = slice(qkv[position] ?? [], head * width)
  const past = qkv.slice(0, position + 1)
  const scores = past.map((row) => inner(query, slice(row, config.width + shared)) / Math.sqrt(width))
  return times(
    softmax(scores),
    past.map((row) => slice(row, config.width + ModelConfig.keyValueWidth(config) + shared))
  )
}

const inner = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number =>
  a.reduce((total, value, index) => total + value * (b[index] ?? 0), 0)

const sum = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): ReadonlyArray<number> =>
  a.map((value, index) => value + (b[index] ?? 0))

/** A row vector times a matrix. */
const times = (row: ReadonlyArray<number>, matrix: Matrix): ReadonlyArray<number> =>
  (matrix[0] ?? []).map((_, column) =>
    row.reduce((total, value, index) => total + value * (matrix[index]?.[column] ?? 0), 0)
  )

const normalize = (row: ReadonlyArray<number>): ReadonlyArray<number> => {
  const scale = Math.sqrt(inner(row, row) / row.length + 1e-5)
  return row.map((value) => value / scale)
}

const softmax = (scores: ReadonlyArray<number>): ReadonlyArray<number> => {
  const largest = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - largest))
  const total = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / total)
}
