import { Tensor } from "onnxruntime-node"
import { feeds, open } from "./Kernel.ts"
import type { KeyValueRows } from "./KeyValueRows.ts"
import type { SharedProgram, WorkerData } from "./Protocol.ts"

export type CachedKernel = Awaited<ReturnType<typeof make>>

/** A decoding or prefill program on the rows of a cache; each row takes `tokens` tokens a run. */
export const make = async (
  data: WorkerData,
  parameters: Readonly<Record<string, Float32Array>>,
  program: SharedProgram,
  cache: KeyValueRows,
  size: { readonly rows: number; readonly tokens: number }
) => {
  const capacity = size.rows * size.tokens
  const session = await open(program)
  const fixed = feeds(program, parameters)
  const indices = {
    tokens: new BigInt64Array(capacity),
    previous: new BigInt64Array(capacity),
    positions: new BigInt64Array(capacity)
  }
  const outputs = new Map(
    program.outputs.map(({ name, shape: [, width = 0] }) => [
      name,
      { width, array: new Float32Array(capacity * width) }
    ])
  )
  const perLayer = (name: string) =>
    Array.from({ length: data.cache.layers }, (_, layer) => outputs.get(`${name}${layer}`)?.array ?? none)
  const newKeys = perLayer("newKeys")
  const newValues = perLayer("newValues")
  const probabilities = outputs.get("probs")?.array ?? none
  const { vocabulary } = data.config

  /** The tensors of a run with `rows` rows at the present context. */
  const tensors = (rows: number) => {
    const n = rows * size.tokens
    const index = (array: BigInt64Array) => new Tensor("int64", array.subarray(0, n), [n])
    return {
      rows,
      context: cache.context,
      feeds: {
        ...fixed,
        ...cache.feeds(rows),
        tokens: index(indices.tokens),
        previous: index(indices.previous),
        positions: index(indices.positions)
      },
      fetches: Object.fromEntries(
        Array.from(outputs, ([name, { width, array }]) => [
          name,
          new Tensor("float32", array.subarray(0, n * width), [n, width])
        ])
      )
    }
  }
  let last = tensors(size.rows)

  return {
    /** Has token number `slot` of `row` be `sequence[position]` in the next run. */
    take: (row: number, slot: number, sequence: ReadonlyArray<number>, position: number): void => {
      const index = row * size.tokens + slot
      indices.tokens[index] = BigInt(sequence[position] ?? 0)
      indices.previous[index] = BigInt(sequence[position - 1] ?? 0)
      indices.positions[index] = BigInt(position)
    },
    /** Runs the first `rows` rows of the cache. */
    run: async (rows: number): Promise<void> => {
      if (rows !== last.rows || cache.context !== last.context) last = tensors(rows)
      await session.run(last.feeds, last.fetches)
    },
    /** Writes what the last run gave for token number `slot` of `row` into the cache, at `position`. */
    keep: (row: number, slot: number, position: number): void => {
      cache.append(row, position, row * size.tokens + slot, newKeys, newValues)
    },
    /** The distribution after the token that `row` took; its content lasts until the next run. */
    probabilities: (row: number): Float32Array => probabilities.subarray(row * vocabulary, (row + 1) * vocabulary)
  }
}

const none = new Float32Array(0)
