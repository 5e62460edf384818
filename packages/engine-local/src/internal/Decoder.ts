import { draw } from "../Sampling.ts"
import * as CachedKernel from "./CachedKernel.ts"
import { element } from "./Element.ts"
import { KeyValueRows } from "./KeyValueRows.ts"
import * as Prefill from "./Prefill.ts"
import { noDistribution } from "./NoDistribution.ts"
import { plan } from "./PrefixPlan.ts"
import { type DecodedSequence, type DecodeRequest, type SampleReply, shareArray, type WorkerData } from "./Protocol.ts"

/**
 * Samples within one worker: prefills the prompts, then decodes by continuous batching. Each row of the decoding program
 * works on one sample, takes one token per step, and takes up the next sample as soon as it is done.
 */
export const make = (data: WorkerData, parameters: Readonly<Record<string, Float32Array>>) => {
  const prefillCache = new KeyValueRows(data.cache, Prefill.rowsPerRun)
  const prefill = Prefill.make(data, parameters, prefillCache)
  const cache = new KeyValueRows(data.cache, data.rows)
  let opened: Promise<CachedKernel.CachedKernel> | undefined

  /** What each request starts from: the keys and values of its prompt without the last token. */
  const prepare = async (requests: ReadonlyArray<DecodeRequest>): Promise<ReadonlyArray<Float32Array>> => {
    const { prefills, sources } = plan(requests, data.block)
    const cached = (request: number) => {
      const keyValues = requests[request]?.cached?.keyValues
      return keyValues === undefined ? nothing : new Float32Array(keyValues)
    }
    const done = new Map<number, Float32Array>()
    while (done.size < prefills.length) {
      const ready = Array.from(prefills.entries()).filter(
        ([index, { parent }]) => !done.has(index) && (parent === null || done.has(parent))
      )
      const saved = await prefill(
        ready.map(([, { parent, request, start, end }]) => ({
          sequence: requests[request]?.prompt ?? [],
          start,
          end,
          base: (parent === null ? undefined : done.get(parent)) ?? cached(request)
        }))
      )
      ready.forEach(([index], at) => done.set(index, saved[at] ?? nothing))
    }
    return sources.map((source, request) => (source === null ? undefined : done.get(source)) ?? cached(request))
  }

  return async (requests: ReadonlyArray<DecodeRequest>): Promise<SampleReply> => {
    const kernel = await (opened ??= CachedKernel.make(data, parameters, data.decode, cache, {
      rows: data.rows,
      tokens: 1
    }))
    const bases = await prepare(requests)
    const samples = requests.flatMap((request, index) =>
      Array.from({ length: request.samples }, (_, sample) => ({ request, index, sample }))
    )
    const reply = requests.map((): Array<DecodedSequence> => [])
    const active: Array<Row> = []
    let taken = 0

    /** Only what rows have taken is kept. */
    const fit = (slots: number): void => {
      cache.fit(
        slots,
        active.map(({ position }) => position)
      )
    }

    const begin = (row: number): void => {
      const next = samples[taken++]
      if (next === undefined) return
      const { prompt } = next.request
      const position = prompt.length - 1
      if (position >= cache.context) fit(position + 1)
      cache.load(row, bases[next.index] ?? nothing, position)
      active[row] = { ...next, sequence: [...prompt], logprobs: [], position }
    }

    const end = (row: number, { request, index, sample, sequence, logprobs }: Row, stopped: boolean): void => {
      const keyValues = shareArray(cache.save(row))
      const results = reply[index]
      if (results !== undefined) {
        results[sample] = { tokens: sequence.slice(request.prompt.length), logprobs, stopped, keyValues }
      }
      if (taken < samples.length) return begin(row)
      const last = active.pop()
      if (last !== undefined && row < active.length) {
        cache.move(active.length, row)
        active[row] = last
      }
    }

    for (;;) {
      while (active.length < data.rows && taken < samples.length) begin(active.length)
      if (active.length === 0) return reply
      fit(1 + active.reduce((most, { position }) => Math.max(most, position), 0))
      active.forEach(({ sequence, position }, row) => kernel.take(row, 0, sequence, position))
      await kernel.run(Math.max(leastRows, active.length))
      // From the last row down, so that a row moved into a hole has been dealt with.
      for (let row = active.length - 1; row >= 0; row--) {
        const state = active[row]
        if (state === undefined) continue
        const { request, sample, sequence, logprobs } = state
        kernel.keep(row, 0, state.position)
        state.position += 1
        const distribution = kernel.probabilities(row)
        const u = element(request.draws, sample * request.maxTokens + logprobs.length, "draw")
        const token = draw(distribution, u, request)
        const logprob = Math.log(element(distribution, token, "probability of token"))
        if (Number.isNaN(logprob)) {
          // A mask of 0 does not hide what is not a number: it would stay in the rows when better weights come.
          for (const rows of [cache, prefillCache]) rows.reset()
          throw new RangeError(noDistribution)
        }
        sequence.push(token)
        logprobs.push(logprob)
        const stopped = request.stop.includes(token)
        if (stopped || logprobs.length === request.maxTokens) end(row, state, stopped)
      }
    }
  }
}

/** A sample at work: `position` is that of the next token it takes out of `sequence`, the prompt and what was drawn. */
interface Row {
  readonly request: DecodeRequest
  readonly index: number
  readonly sample: number
  readonly sequence: Array<number>
  readonly logprobs: Array<number>
  position: number
}

const nothing = new Float32Array(0)

/** A single row would go through kernels that round differently. */
const leastRows = 2
