/** What planning needs to know of a request. Requests with the same `cached` start from the same keys and values. */
interface PlannedRequest {
  readonly prompt: ReadonlyArray<number>
  readonly cached: { readonly length: number; readonly keyValues: SharedArrayBuffer } | null
}

/** Tokens `start` to `end` of the prompt of `request`, after those that prefill `parent` left, or else the request's cached ones. */
interface Prefill {
  readonly parent: number | null
  readonly request: number
  readonly start: number
  readonly end: number
}

/** `sources` holds, per request, the prefill that leaves all of its prompt but the last token, if one is needed. */
interface PrefixPlan {
  readonly prefills: ReadonlyArray<Prefill>
  readonly sources: ReadonlyArray<number | null>
}

/**
 * Lays out the prefills of a call so that prompt tokens which several requests share are computed once; parents come
 * before their children. What is shared ends at a multiple of `block`, where blocks of the children can start. The last
 * prompt token is left to the decoder, which needs what it predicts.
 */
export const plan = (requests: ReadonlyArray<PlannedRequest>, block: number): PrefixPlan => {
  const prefills: Array<Prefill> = []
  const sources = requests.map((): number | null => null)

  const branch = (members: ReadonlyArray<Member>, parent: number | null, start: number): void => {
    const [first] = members
    if (first === undefined) return
    const common = members.reduce(
      (length, { prompt, last }) => commonLength(first.prompt, prompt, Math.min(length, last)),
      first.last
    )
    const alike = members.every(({ last }) => last === common)
    const end = alike ? common : common - (common % block)
    const from = end > start ? prefills.push({ parent, request: first.request, start, end }) - 1 : parent
    if (alike) {
      for (const { request } of members) sources[request] = from
      return
    }
    const byNextToken = Map.groupBy(members, ({ prompt, last }) => (last === common ? null : prompt[common]))
    for (const others of byNextToken.values()) branch(others, from, Math.max(start, end))
  }

  const roots = Map.groupBy(
    requests.map(({ prompt, cached }, request) => ({ request, prompt, last: prompt.length - 1, cached })),
    ({ cached }) => cached?.keyValues ?? null
  )
  for (const members of roots.values()) {
    for (const [length, equal] of Map.groupBy(members, ({ cached }) => cached?.length ?? 0)) branch(equal, null, length)
  }
  return { prefills, sources }
}

interface Member {
  readonly request: number
  readonly prompt: ReadonlyArray<number>
  /** Index of the last prompt token. */
  readonly last: number
}

/** Number of leading tokens that `a` and `b` share, at most `limit`. */
const commonLength = (a: ReadonlyArray<number>, b: ReadonlyArray<number>, limit: number): number => {
  let length = 0
  while (length < limit && a[length] === b[length]) length++
  return length
}
