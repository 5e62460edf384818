import { draw } from "../Sampling.ts"
import * as CachedKernel from "./CachedKernel.ts"
import { KeyValueRows } from "./KeyValueRows.ts"
import { element, noDistribution } from "./Values.ts"
import * as Prefill from "./Prefill.ts"
import type { DecodeRequest, SampleReply, WorkerData } from "./Protocol.ts"
import { type Row, Rows } from "./Rows.ts"

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
