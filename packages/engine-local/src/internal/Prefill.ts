import * as CachedKernel from "./CachedKernel.ts"
import type { KeyValueRows } from "./KeyValueRows.ts"
import { plan } from "./PrefixPlan.ts"
import type { DecodeRequest, WorkerData } from "./Protocol.ts"

/** Tokens `start` to `end` of `sequence`, to be taken after those before, whose keys and values are at the head of `base`. */
interface PrefillJob {
  readonly sequence: ReadonlyArray<number>
  readonly start: number
  readonly end: number
  readonly base: Float32Array
}

/** Keys and values up to the end of each job. */
export type Prefill = (jobs: ReadonlyArray<PrefillJob>) => Promise<ReadonlyArray<Float32Array>>

export const rowsPerRun = 32

/**
 * Computes keys and values of known tokens within one worker, a block of tokens per row and run: the same bits that
 * decoding them one by one would give, in a fraction of the time. `cache` has {@link rowsPerRun} rows.
 */
export const make = (
  data: WorkerData,
  parameters: Readonly<Record<string, Float32Array>>,
  cache: KeyValueRows
): Prefill => {
  const { block } = data
  let opened: Promise<CachedKernel.CachedKernel> | undefined

  /** Jobs of which those with more blocks come first, so that the rows at work are always the first ones. */
  const runTogether = async (jobs: ReadonlyArray<Started>): Promise<ReadonlyArray<Float32Array>> => {
    const kernel = await (opened ??= CachedKernel.make(data, parameters, data.prefill, cache, {
      rows: rowsPerRun,
      tokens: block
    }))
    cache.fit(
      jobs.reduce((most, { job }) => Math.max(most, job.end), 0),
      []
    )
    jobs.forEach(({ first, job }, row) => cache.load(row, job.base, first))
    for (let taken = 0; ; taken += block) {
      const rows = jobs.filter(({ first, job }) => first + taken < job.end)
      if (rows.length === 0) break
      rows.forEach(({ first, job: { sequence, end } }, row) => {
        for (let slot = 0; slot < block; slot++) {
          // What follows the end affects nothing before it.
          kernel.take(row, slot, sequence, Math.min(first + taken + slot, end - 1))
        }
      })
      await kernel.run(rows.length)
      rows.forEach(({ first, job: { end } }, row) => {
        const from = first + taken
        for (let slot = 0; slot < Math.min(block, end - from); slot++) kernel.keep(row, slot, from + slot)
      })
    }
    return jobs.map((_, row) => cache.save(row))
  }

  return async (jobs) => {
    // A block starts at a multiple of its size, so tokens before `start` are computed again, with the same result.
    const started = jobs.map((job, index) => ({ job, index, first: job.start - (job.start % block) }))
    const mostFirst = started.toSorted((a, b) => b.job.end - b.first - (a.job.end - a.first))
    const saved = new Map<number, Float32Array>()
    for (let at = 0; at < mostFirst.length; at += rowsPerRun) {
      const together = mostFirst.slice(at, at + rowsPerRun)
      const rows = await runTogether(together)
      together.forEach(({ index }, row) => saved.set(index, rows[row] ?? noKeyValues))
    }
    return jobs.map((_, index) => saved.get(index) ?? noKeyValues)
  }
}

/** What each request starts from: the keys and values of its prompt without the last token. */
export const prepare = async (
  prefill: Prefill,
  requests: ReadonlyArray<DecodeRequest>,
  block: number
): Promise<ReadonlyArray<Float32Array>> => {
  const { prefills, sources } = plan(requests, block)
  const cached = (request: number) => {
    const keyValues = requests[request]?.cached?.keyValues
    return keyValues === undefined ? noKeyValues : new Float32Array(keyValues)
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
    ready.forEach(([index], at) => done.set(index, saved[at] ?? noKeyValues))
  }
  return sources.map((source, request) => (source === null ? undefined : done.get(source)) ?? cached(request))
}

interface Started {
  readonly job: PrefillJob
  /** Where its first block starts. */
  readonly first: number
}

const noKeyValues = new Float32Array(0)
