import type { Prefill } from "./Prefill.ts"
import { plan } from "./PrefixPlan.ts"
import type { DecodeRequest } from "./Protocol.ts"

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

const noKeyValues = new Float32Array(0)
