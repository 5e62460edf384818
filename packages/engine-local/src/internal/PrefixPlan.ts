/** What planning needs to know of a request. Requests with the same `cached` start from the same keys and values. */
export interface PlannedRequest {
  readonly prompt: ReadonlyArray<number>
  readonly samples: number
  readonly cached: { readonly length: number; readonly keyValues: SharedArrayBuffer } | null
}

/**
 * One pass of a row through the decoder. Starting from the keys and values of job `parent`, or else from the request's
 * cached ones, it takes the prompt of `request` up to `end`. Then it either hands its keys and values to the jobs that
 * name it as their parent, or goes on to draw sample number `sample`.
 */
export interface Job {
  readonly parent: number | null
  readonly request: number
  readonly start: number
  readonly end: number
  readonly sample: number | null
}

/**
 * Lays out the jobs of a call so that prompt tokens which several sequences share are computed once; parents come before
 * their children. The last prompt token is left to the sampling job, which needs what it predicts.
 */
export const plan = (requests: ReadonlyArray<PlannedRequest>): ReadonlyArray<Job> => {
  const jobs: Array<Job> = []

  const branch = (members: ReadonlyArray<Member>, parent: number | null, start: number): void => {
    const [first] = members
    if (first === undefined) return
    const sequences = members.reduce((total, { samples }) => total + samples, 0)
    const shared = members.reduce((length, { prompt }) => commonLength(first.prompt, prompt, length), first.last)
    const common = Math.min(shared, ...members.map(({ last }) => last))
    const worthSharing = sequences > 1 && common - start >= shortestShared
    const from = worthSharing
      ? jobs.push({ parent, request: first.request, start, end: common, sample: null }) - 1
      : parent
    const at = worthSharing ? common : start
    const byNextToken = new Map<number, Array<Member>>()
    for (const member of members) {
      const next = member.prompt[common]
      if (member.last === common || next === undefined || members.length === 1) {
        for (let sample = 0; sample < member.samples; sample++) {
          jobs.push({ parent: from, request: member.request, start: at, end: member.last, sample })
        }
      } else {
        const others = byNextToken.get(next)
        if (others === undefined) byNextToken.set(next, [member])
        else others.push(member)
      }
    }
    for (const others of byNextToken.values()) branch(others, from, at)
  }

  const roots = new Map<SharedArrayBuffer | null, Map<number, Array<Member>>>()
  requests.forEach(({ prompt, samples, cached }, request) => {
    const byLength = roots.get(cached?.keyValues ?? null) ?? new Map<number, Array<Member>>()
    const members = byLength.get(cached?.length ?? 0) ?? []
    members.push({ request, prompt, samples, last: prompt.length - 1 })
    roots.set(cached?.keyValues ?? null, byLength.set(cached?.length ?? 0, members))
  })
  for (const byLength of roots.values()) {
    for (const [length, members] of byLength) branch(members, null, length)
  }
  return jobs
}

interface Member {
  readonly request: number
  readonly prompt: ReadonlyArray<number>
  readonly samples: number
  /** Index of the last prompt token. */
  readonly last: number
}

/** Below this many tokens, computing them again costs less than copying keys and values. */
const shortestShared = 8

/** Number of leading tokens that `a` and `b` share, at most `limit`. */
const commonLength = (a: ReadonlyArray<number>, b: ReadonlyArray<number>, limit: number): number => {
  let length = 0
  while (length < limit && a[length] === b[length]) length++
  return length
}
