/** The commands to a population, and its answers. Times are milliseconds of the caller's clock. */
import { Result, Schema } from "effect"
import { type Instruction, Problem, type Question } from "@inspo/domain"
import type { EventOf } from "@inspo/evolution"
import type { Learning, Metrics } from "./Learning.ts"
import type { Settings } from "./Settings.ts"
import type { Lease, LeasePhase, RewardValue } from "./State.ts"

/**
 * A unit of work that needs an instruction: `n` samples, of which a unit has several where n > 1. Requests of one `sticky` key
 * have one instruction and are one unit. With `instructions` above 1 a question gets up to so many leases, under different
 * instructions: the first with this key, further ones with `key#` and the id of their instruction. Without a cohort `key` must be
 * unique within the retention of the archive.
 */
export interface LeaseRequest {
  readonly key: string
  readonly n: number
  readonly instructions: number
  readonly stratum: string
  readonly sticky: string | null
  readonly question: Question.QuestionId | null
}

/**
 * `value` is in the reward range; null if there will be none, since the environment failed; `abandoned` if the instruction was
 * never used, so that the sample is neither evidence nor a missing reward.
 */
export interface RewardItem {
  readonly lease: string
  readonly sample: number | null
  readonly value: RewardValue
  readonly metrics?: Metrics
}

/**
 * Leases. `cohort` null leaves it to the population. `isFullBatch`: these are all requests of the cohort, to be assigned together
 * as those of a run: some questions under several instructions, and then others under none.
 */
export interface LeaseCommand {
  readonly _tag: "Lease"
  readonly now: number
  readonly cohort: string | null
  readonly phase: LeasePhase
  readonly isFullBatch: boolean
  readonly requests: ReadonlyArray<LeaseRequest>
}

/** Rewards, in any order, with any repetitions. */
export interface RewardCommand {
  readonly _tag: "Reward"
  readonly now: number
  readonly rewards: ReadonlyArray<RewardItem>
}

/** `groups` null closes at once, a number as soon as so many leases have reported. */
interface CloseCommand {
  readonly _tag: "Close"
  readonly now: number
  readonly cohort: string
  readonly groups: number | null
}

/** `base` is what had been learned when the cohort `to` was closed: {@link learnedUpTo} of the events. */
interface RewindCommand {
  readonly _tag: "Rewind"
  readonly now: number
  readonly to: string
  readonly requestId: string
  readonly base: Learning | null
}

/** The answer of a proposer to a parent; no candidates are a round without any. */
interface ProposeCommand {
  readonly _tag: "Propose"
  readonly now: number
  readonly parent: Instruction.InstructionId
  readonly candidates: ReadonlyArray<Instruction.Candidate>
  readonly reflected: ReadonlyArray<Question.QuestionId>
  readonly notes?: Schema.Json
}

/** No candidate can be tried; `noted` is what a proposer that learns wrote down with its answer, if there was one. */
interface SkipCommand extends Pick<EventOf<"EvolutionSkipped">, "noted" | "reason"> {
  readonly _tag: "SkipEvolution"
  readonly now: number
}

export type Command =
  | LeaseCommand
  | RewardCommand
  | CloseCommand
  | RewindCommand
  | ProposeCommand
  | { readonly _tag: "Seal"; readonly now: number; readonly cohort: string }
  | { readonly _tag: "Tick"; readonly now: number }
  | { readonly _tag: "Evolve"; readonly now: number }
  | SkipCommand
  | { readonly _tag: "Configure"; readonly now: number; readonly settings: Settings }
  | { readonly _tag: "Freeze"; readonly now: number; readonly isFrozen: boolean; readonly usesSeed?: true }
  | {
      readonly _tag: "Add"
      readonly now: number
      readonly content: Instruction.Content
      readonly parent: Instruction.InstructionId | null
    }
  | { readonly _tag: "Pin"; readonly now: number; readonly id: Instruction.InstructionId; readonly isPinned: boolean }
  | { readonly _tag: "Retire"; readonly now: number; readonly id: Instruction.InstructionId }
  | { readonly _tag: "Review"; readonly now: number; readonly place: number; readonly isApproved: boolean }

/** A lease for its client, who looks up the content by the instruction. `closesAt` is null without a horizon. */
export interface LeaseAnswer extends Pick<Lease, "instruction" | "key" | "lease" | "n" | "probability" | "question"> {
  readonly cohort: string
  /** The first instruction of its sticky key, which was removed; null for a key that keeps its instruction. */
  readonly replaces: Instruction.InstructionId | null
  readonly closesAt: number | null
}

/**
 * The outcome of a reward: `accepted` as evidence; `late`, stored but not evidence; `duplicate`, not the first of its sample;
 * `superseded`, of a branch that was left; `unknown`, of no lease.
 */
export type RewardOutcome = "accepted" | "late" | "duplicate" | "superseded" | "unknown"

export type Answer =
  | { readonly _tag: "Leases"; readonly leases: ReadonlyArray<LeaseAnswer> }
  | { readonly _tag: "Rewards"; readonly outcomes: ReadonlyArray<RewardOutcome> }
  | { readonly _tag: "Branch"; readonly branch: number }
  | { readonly _tag: "Done" }

/**
 * A command that was refused; nothing of it was done. `conflict`: it contradicts an earlier request; `invalid`: a value is out
 * of range; `limit`: there is no room; `closed`: its cohort takes no new leases; `missing`: what it names does not exist. `of`
 * is the key or lease that the field belongs to, null for a field of the command itself.
 */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  ...Problem.fields,
  code: Schema.Literals(["conflict", "invalid", "limit", "closed", "missing"]),
  of: Schema.NullOr(Schema.String),
  remedy: Schema.String
}) {
  override get message() {
    const field = this.of === null ? this.field : `${this.field} of ${this.of}`
    const { expected, remedy, value } = this
    return Problem.words({ field, value, expected, remedy })
  }
}

/** Refuses a command. */
export const refuse = (
  code: Refused["code"],
  field: string,
  value: string | number | boolean,
  expected: string,
  remedy: string,
  of: string | null = null
): Result.Result<never, Refused> =>
  Result.fail(new Refused({ code, field, of, value: String(value), expected, remedy }))
