/** The state of a population: a fold of its events. It contains the cohorts that are not closed, and no others. */
import { HashMap, Option } from "effect"
import type { Instruction, Question } from "@inspo/domain"
import {
  contentOfMember,
  type Incumbent,
  incumbentOf as ofEvidence,
  isPaused,
  type Learning,
  type Tallies
} from "./Learning.ts"
import type { SampleRatio } from "./SampleRatio.ts"
import type { Settings } from "./Settings.ts"

/** Whether rewards are evidence, or measure the incumbent. */
export type LeasePhase = "train" | "validation"

/** The reward of a sample: a number, null if there will be none, or that its instruction was never used. */
export type RewardValue = number | "abandoned" | null

/** What is known of a sample: nothing yet, its reward in [0, 1], or that it will never have one. */
export type Sample = number | "failed" | "abandoned" | null

/**
 * One instruction handed out for one unit of work. Leases of one `unit` have one instruction and are one outcome. `place`
 * orders the units of a cohort that was assigned as a whole.
 */
export interface Lease {
  readonly lease: string
  readonly key: string
  readonly n: number
  readonly instruction: Instruction.InstructionId
  readonly probability: number
  readonly unit: string
  readonly place: number
  readonly stratum: string
  readonly question: Question.QuestionId | null
  readonly isCarried?: true
  readonly replaces?: Instruction.InstructionId
  /** By sample, up to the last known one, so that an unused lease needs no memory. */
  readonly samples: ReadonlyArray<Sample>
}

/** How many samples of a lease are known. */
export const knownSamples = ({ samples }: Pick<Lease, "samples">): number =>
  samples.filter((one) => one !== null).length

/** A unit of several leases, such as a conversation. */
export type Sticky = Pick<Lease, "instruction" | "probability" | "isCarried" | "replaces">

/**
 * Leases under one frozen set of probabilities. `index` counts the cohorts of a phase on a branch from 1. `closing` is how
 * many leases must have reported until the client wants it closed; null while it does not. `complete` ones take no more
 * evidence and wait for those before them.
 */
export interface Cohort {
  readonly name: string
  readonly index: number
  readonly phase: LeasePhase
  readonly isNamed: boolean
  readonly isFullBatch: boolean
  readonly status: "open" | "sealed" | "complete"
  readonly openedAt: number
  readonly sealedAt: number | null
  /** When the last reward came that is evidence; null before the first. */
  readonly rewardedAt: number | null
  readonly closing: number | null
  readonly shares: ReadonlyArray<Share>
  readonly leases: HashMap.HashMap<string, Lease>
  readonly sticky: HashMap.HashMap<string, Sticky>
  /** The numbers of guardrails by instruction. */
  readonly numbers: Readonly<Record<string, Tallies>>
  readonly units: number
  /** Samples that its leases cover. */
  readonly samples: number
  /** Leases all of whose samples are known. */
  readonly reported: number
}

/** How likely a unit gets an instruction. */
export interface Share {
  readonly id: Instruction.InstructionId
  readonly probability: number
}

/** A branch continues after `parent` had folded so many cohorts, `after`. */
export interface Branch {
  readonly branch: number
  readonly parent: number
  readonly after: number
}

/** A rewind that was asked for, and the branch that it began. */
export interface Rewind {
  readonly requestId: string
  readonly to: string
  readonly branch: number
}

export interface State {
  readonly settings: Settings
  readonly limits: Limits
  readonly isFrozen: boolean
  /** Whether all leases get the seed, whatever was learned. It is frozen then. */
  readonly usesSeed: boolean
  readonly branch: number
  readonly branches: ReadonlyArray<Branch>
  readonly rewinds: ReadonlyArray<Rewind>
  /** Training cohorts opened on this branch and before it, and validation cohorts ever. */
  readonly opened: { readonly train: number; readonly validation: number }
  /** Units of all closed training cohorts; `lost` ones were not fully reported, `across` cohorts were compared with those before. */
  readonly closed: { readonly units: number; readonly lost: number; readonly across: number }
  /** Some questions of the first cohorts, and whether one of them was asked again in a later one. */
  readonly questions: { readonly first: ReadonlyArray<Question.QuestionId>; readonly areRepeated: boolean }
  /** Whether instructions reach the evidence as often as their probabilities say. */
  readonly sampleRatio: SampleRatio
  /** How long after sealing the last reward came in the training cohorts completed last, the latest last. */
  readonly waits: ReadonlyArray<number>
  /** The cohorts that are not closed, in the order in which they were opened. */
  readonly cohorts: ReadonlyArray<Cohort>
  readonly learning: Learning
}

/** The instruction to use outside learning: the seed after the switch to it. */
export const incumbentOf = ({ learning, usesSeed }: Pick<State, "learning" | "usesSeed">): Incumbent =>
  usesSeed
    ? { id: learning.seed, content: contentOfMember(learning, learning.seed), why: "switched" }
    : ofEvidence(learning)

/** The unclosed cohort of this name. */
export const cohort = (state: State, name: string): Cohort | undefined => state.cohorts.find((one) => one.name === name)

/** The instruction that a cohort gave to a unit of several leases; undefined without one, or if it is leased no more. */
export const heldBy = (
  { learning }: Pick<State, "learning">,
  { sticky }: Pick<Cohort, "sticky">,
  unit: string
): Sticky | undefined => {
  const held = Option.getOrUndefined(HashMap.get(sticky, unit))
  return held === undefined || isPaused(learning.stats, held.instruction) ? undefined : held
}

/** The names of the texts of an instruction, which all of a population share. */
export const namesOf = (content: Instruction.Content): string =>
  typeof content === "string" ? "one text" : Object.keys(content).sort().join(", ")

/** The lease of this id with its unclosed cohort, if that is of the present branch. */
export const openLease = (state: State, id: string): { readonly cohort: Cohort; readonly lease: Lease } | undefined => {
  const [branch, name = "", key = ""] = id.split("/").map(decode)
  const own = branch === String(state.branch) ? cohort(state, name) : undefined
  const lease = own === undefined ? undefined : Option.getOrUndefined(HashMap.get(own.leases, key))
  return own === undefined || lease?.lease !== id ? undefined : { cohort: own, lease }
}

const decode = (part: string): string => {
  if (!part.includes("%")) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return ""
  }
}

/** This branch and those that it continues, each with the last of its cohorts that counts here. */
export const ancestry = ({
  branch,
  branches
}: Pick<State, "branch" | "branches">): ReadonlyArray<{ readonly branch: number; readonly upTo: number }> => {
  const line: Array<{ readonly branch: number; readonly upTo: number }> = []
  let at = { branch, upTo: Infinity }
  for (;;) {
    line.push(at)
    const from = branches.find((one) => one.branch === at.branch)
    if (from === undefined) return line
    at = { branch: from.parent, upTo: Math.min(at.upTo, from.after) }
  }
}

/** The id of a lease: unique over branches, cohorts and keys. */
export const leaseId = (branch: number, cohortName: string, key: string): string =>
  [String(branch), cohortName, key].map(encodeName).join("/")

/** A name as a part of an id. Total: commands with lone surrogates are refused before an id is given out. */
export const encodeName = (name: string): string => encodeURIComponent(name.toWellFormed())

/** The key of the lease of a further instruction on a question that several instructions answer. */
export const armKey = (key: string, arm: Instruction.InstructionId): string => `${key}#${arm}`

/** The key of the request of a lease. */
export const baseKey = (key: string): string => key.replace(/#i\d+$/u, "")

/** The unit of a request: its conversation, or itself. */
export const unitOf = ({ key, sticky }: { readonly key: string; readonly sticky: string | null }): string =>
  sticky === null ? `key ${key}` : `sticky ${sticky}`

/** The most that a population holds open; some 200 MB of leases, and room for 100 training steps of 1,024 groups of 16. */
export const limits = {
  openCohorts: 1000,
  openLeases: 200_000,
  openSamples: 2_000_000,
  unitsPerCohort: 100_000,
  /** Characters of an instruction. */
  textLength: 100_000
}
type Limits = Readonly<typeof limits>
