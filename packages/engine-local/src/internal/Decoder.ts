import { draw } from "../Sampling.ts"
import * as CachedKernel from "./CachedKernel.ts"
import { KeyValueRows } from "./KeyValueRows.ts"
import { element, noDistribution } from "./Values.ts"
import * as Prefill from "./Prefill.ts"
import { type DecodeRequest, type SampleReply, type WorkerData, type DecodedSequence, shareArray } from "./Protocol.ts"

/**
 * Samples within one worker: prefills the prompts, then decodes by continuous batching. Each row of the decoding program
 * works on one sample, takes one token per step, and takes up the next sample as soon as it is done.
 */
export const make = (data: WorkerData, parameters: Readonly<Record<string, Float32Array>>) => {
  const prefillCache = new KeyValueRows(data.cache, Prefill.rowsPerRun)
  const prefill = Prefill.make(data, parameters, prefillCache)
  const cache = new KeyValueRows(data.cache, data.rows)
  let opened: Promise<CachedKernel.CachedKernel> | undefined

  return async (requests: ReadonlyArray<DecodeRequest>): Promise<SampleReply> => {
    const kernel = await (opened ??= CachedKernel.make(data, parameters, data.decode, cache, {
      rows: data.rows,
      tokens: 1
    }))
    const rows = new Rows(cache, data.rows, requests, await Prefill.prepare(prefill, requests, data.block))
    for (;;) {
      rows.fill()
      const { active } = rows
      if (active.length === 0) return rows.reply
      rows.fit()
      active.forEach(({ sequence, position }, row) => kernel.take(row, 0, sequence, position))
      await kernel.run(Math.max(leastRows, active.length))
      // From the last row down, so that a row moved into a hole has been dealt with.
      for (let row = active.length - 1; row >= 0; row--) {
        const state = active[row]
        if (state === undefined) continue
        kernel.keep(row, 0, state.position)
        state.position += 1
        const token = drawToken(state, kernel.probabilities(row))
        if (token === null) {
          // A mask of 0 does not hide what is not a number: it would stay in the rows when better weights come.
          for (const keyValues of [cache, prefillCache]) keyValues.reset()
          throw new RangeError(noDistribution)
        }
        const { request, logprobs } = state
        const stopped = request.stop.includes(token)
        if (stopped || logprobs.length === request.maxTokens) rows.end(row, stopped)
      }
    }
  }
}

/** Draws the next token of a sample and adds it; null where there is no distribution to draw from. */
const drawToken = ({ request, sample, sequence, logprobs }: Row, distribution: Float32Array): number | null => {
  const u = element(request.draws, sample * request.maxTokens + logprobs.length, "draw")
  const token = draw(distribution, u, request)
  const logprob = Math.log(element(distribution, token, "probability of token"))
  if (Number.isNaN(logprob)) return null
  sequence.push(token)
  logprobs.push(logprob)
  return token
}

/** A single row would go through kernels that round differently. */
const leastRows = 2

/** A sample at work: `position` is that of the next token it takes out of `sequence`, the prompt and what was drawn. */
interface Row {
  readonly request: DecodeRequest
  readonly index: number
  readonly sample: number
  readonly sequence: Array<number>
  readonly logprobs: Array<number>
  position: number
}

/** The samples of one call: those at work, each in a row of the cache, those that wait, and those that are done. */
class Rows {
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
