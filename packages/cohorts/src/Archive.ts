/** Leases and cohorts that are no longer in the state, but in records. */
import type { Given } from "./Event.ts"
import { ancestry, baseKey, type Lease, type State } from "./State.ts"

/** A lease of a cohort that was complete, closed or given up, with the samples whose first reward is known. */
export interface ArchivedLease extends Omit<Lease, "isCarried" | "samples" | "unit"> {
  readonly branch: number
  readonly cohort: string
  readonly index: number
  readonly isTrain: boolean
  readonly rewarded: ReadonlyArray<number>
  /** Its place among the leases of its cohort, in the order in which they were given out. */
  readonly place: number
  /** The keys of the leases of further instructions on the same question, in a whole cohort. */
  readonly arms: ReadonlyArray<string>
}

/**
 * Looks up what the state does not contain; implement it over your records of leases and rewards. A command looks up only the
 * leases, keys and cohorts that it names, so that they can be fetched before. `key` finds leases of cohorts that the
 * population named itself, and those of the `arms` of a lease may be looked up with it; `cohort` is the index of a closed one of the branch, 0 for validation.
 */
export interface Archive {
  readonly lease: (lease: string) => ArchivedLease | undefined
  readonly key: (branch: number, key: string) => ArchivedLease | undefined
  readonly cohort: (branch: number, name: string) => number | undefined
  /** The first instruction of a unit of several leases, and its living ones. */
  readonly sticky: (branch: number, unit: string) => ReadonlyArray<Pick<ArchivedLease, "instruction" | "probability">>
}

/** The index of a closed cohort of the present branch, else undefined. That of validation is 0, and counts on its own branch alone. */
export const closedIndex = (
  archive: Archive,
  state: Pick<State, "branch" | "branches">,
  name: string
): number | undefined =>
  ancestry(state)
    .map(({ branch, upTo }) => ({ upTo, index: archive.cohort(branch, name) }))
    .find(({ index, upTo }) => index !== undefined && (index === 0 ? upTo === Infinity : index <= upTo))?.index

/** For the key of each of some leases that were given out together, the keys of the candidates' leases on its question. */
export const armsOf = (leases: ReadonlyArray<Pick<Given, "key">>): ((key: string) => ReadonlyArray<string>) => {
  const arms = new Map<string, Array<string>>()
  for (const { key } of leases) {
    const base = baseKey(key)
    if (base === key) continue
    const known = arms.get(base)
    if (known === undefined) arms.set(base, [key])
    else known.push(key)
  }
  return (key) => arms.get(key) ?? []
}

/** An empty archive: for populations that do not store closed cohorts. */
export const empty: Archive = {
  lease: () => undefined,
  key: () => undefined,
  cohort: () => undefined,
  sticky: () => []
}
