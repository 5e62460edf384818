import type { KeyValueRows } from "./KeyValueRows.ts"
import { type DecodedSequence, type DecodeRequest, shareArray } from "./Protocol.ts"

/** A sample at work: `position` is that of the next token it takes out of `sequence`, the prompt and what was drawn. */
export interface Row {
  readonly request: DecodeRequest
  readonly index: number
  readonly sample: number
  readonly sequence: Array<number>
  readonly logprobs: Array<number>
  position: number
}

/** The samples of one call: those at work, each in a row of the cache, those that wait, and those that are done. */
export class Rows {
  /** The samples at work, the first rows of the cache without a gap. */
  readonly active: Array<Row> = []
  /** The samples that are done, by request. */
  readonly reply: ReadonlyArray<Array<DecodedSequence>>
  readonly #cache: KeyValueRows
  readonly #bases: ReadonlyArray<Float32Array>
  readonly #rows: number
  readonly #samples: ReadonlyArray<Pick<Row, "request" | "index" | "sample">>
  #taken = 0

  /** `bases` holds what the samples of each request start from, in `rows` rows at most. */
  constructor(
    cache: KeyValueRows,
    rows: number,
    requests: ReadonlyArray<DecodeRequest>,
    bases: ReadonlyArray<Float32Array>
  ) {
    this.#cache = cache
    this.#bases = bases
    this.#rows = rows
    this.reply = requests.map(() => [])
    this.#samples = requests.flatMap((request, index) =>
      Array.from({ length: request.samples }, (_, sample) => ({ request, index, sample }))
    )
  }

  /** Takes up samples as long as there are rows for them. */
  fill(): void {
    while (this.active.length < this.#rows && this.#taken < this.#samples.length) this.#begin(this.active.length)
  }

  /** Makes the cache as long as the next token of every row needs it. */
  fit(): void {
    this.#fit(1 + this.active.reduce((most, { position }) => Math.max(most, position), 0))
  }

  /** The sample of a row is done: the row takes up the next one, or that of the last row. */
  end(row: number, stopped: boolean): void {
    const done = this.active[row]
    if (done === undefined) return
    const { index, logprobs, request, sample, sequence } = done
    const keyValues = shareArray(this.#cache.save(row))
    const results = this.reply[index]
    if (results !== undefined)
      results[sample] = { tokens: sequence.slice(request.prompt.length), logprobs, stopped, keyValues }
    if (this.#taken < this.#samples.length) return this.#begin(row)
    const last = this.active.pop()
    if (last !== undefined && row < this.active.length) {
      this.#cache.move(this.active.length, row)
      this.active[row] = last
    }
  }

  #begin(row: number): void {
    const next = this.#samples[this.#taken++]
    if (next === undefined) return
    const { prompt } = next.request
    const position = prompt.length - 1
    if (position >= this.#cache.context) this.#fit(position + 1)
    this.#cache.load(row, this.#bases[next.index] ?? noKeyValues, position)
    this.active[row] = { ...next, sequence: [...prompt], logprobs: [], position }
  }

  /** Only what rows have taken is kept. */
  #fit(slots: number): void {
    this.#cache.fit(
      slots,
      this.active.map(({ position }) => position)
    )
  }
}

const noKeyValues = new Float32Array(0)
