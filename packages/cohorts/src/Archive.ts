/** What was closed: the state has forgotten it, the records have not. */
import type { InstructionId } from "@inspo/domain/Instruction"
import type { QuestionId } from "@inspo/domain/Question"
import type { Given } from "./Event.ts"
import { ancestry, baseKey, type State } from "./State.ts"

/** A lease of a cohort that was complete, closed or given up, with the samples whose first reward is known. */
export interface ArchivedLease {
  readonly lease: string
  readonly branch: number
  readonly cohort: string
  readonly index: number
  readonly isTrain: boolean
  readonly key: string
  readonly n: number
  readonly instruction: InstructionId
  readonly probability: number | null
  readonly stratum: string
  readonly question: QuestionId | null
  readonly replaces?: InstructionId
  readonly rewarded: ReadonlyArray<number>
  /** Its place among the leases of its cohort, in the order in which they were given out. */
  readonly place: number
  /** The keys of candidates' leases on the same question, which a whole cohort has where a trial needs them. */
  readonly arms: ReadonlyArray<string>
}

/**
 * Looks up what the state does not hold. Whoever stores leases and rewards implements it; a command looks up the leases, keys
 * and cohorts that it names and nothing else, so that they can be fetched before. `key` finds leases of cohorts that the
 * population named itself, and those of the `arms` of a lease may be looked up with it; `cohort` is the index of a closed one of the branch, 0 for validation.
 */
export interface Archive {
  readonly lease: (lease: string) => ArchivedLease | undefined
  readonly key: (branch: number, key: string) => ArchivedLease | undefined
  readonly cohort: (branch: number, name: string) => number | undefined
  /** What a unit of several leases was given first, and all that is known of it of living instructions. */
  readonly sticky: (branch: number, unit: string) => ReadonlyArray<Pick<ArchivedLease, "instruction" | "probability">>
}

/**
 * The index of a closed cohort that counts on the present branch, undefined for one that is not closed. That of validation is
 * 0, and counts on its own branch alone.
 */
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

/** An archive of nothing: for populations that forget what is closed. */
export const empty: Archive = {
  lease: () => undefined,
  key: () => undefined,
  cohort: () => undefined,
  sticky: () => []
}
