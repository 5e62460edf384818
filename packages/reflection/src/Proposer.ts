import { type Instruction, type RandomStream, Spent } from "@inspo/domain"
import { Context, type Effect, Schema } from "effect"
import type * as CandidateLint from "./CandidateLint.ts"
import type { Protocol } from "./FailureMode.ts"
import type { ReflectiveRecord } from "./ReflectiveRecord.ts"

/** Writes candidate instructions: a proposer, or rules in its place. */
export class Proposer extends Context.Service<Proposer, Proposer.Interface>()("@inspo/reflection/Proposer") {}

export declare namespace Proposer {
  export interface Interface {
    /** Revisions of a parent that should do better work than its records. Candidates are as the proposer wrote them: not linted. */
    readonly propose: <E = never>(request: ProposeRequest<E>) => Effect.Effect<Proposal, ProposerError | E>
    /** Variants of the first instruction, before anything is known about it. They differ from it and from each other. */
    readonly initial: <E = never>(request: InitialRequest<E>) => Effect.Effect<Proposal, ProposerError | E>
  }
}

/**
 * - `count`: how many candidates are asked for; a proposal may hold fewer.
 * - `seed`, `stream`: the name of the random stream; `stream` also names the calls to a proposer.
 * - `rules`: what the candidates are linted by afterwards. A proposer learns which of them were rejected and why, once,
 *   and asked for others; without rules only an answer without any candidate is asked for again, and a long parent is not revised by edits.
 * - `makeCall`: makes each call to a proposer, or answers in its place with what was kept when it was made before.
 */
export interface InitialRequest<E = never> {
  readonly parent: Pick<Instruction.Instruction, "text">
  readonly count: number
  readonly seed: number
  readonly stream: RandomStream.StreamPath
  readonly rules?: CandidateLint.Rules
  readonly makeCall?: MakeCall<E>
}

/** What a proposer that learns wrote down with its last proposal, and how much better than their parent the candidates were. */
export interface Notebook {
  readonly notes: Schema.Json
  /** A gain is in [-1, 1], and 0 where nothing is known. */
  readonly outcomes: ReadonlyArray<{ readonly text: string; readonly gain: number }>
}

/**
 * `records` are work under the parent, such as failures. `protocol` is how an agent of inspo acts in them, by default that of
 * agents that search. `history` are instructions that were tried, with their scores in [0, 1], in any order; the newest may be
 * absent. `name` is that of the text to revise, where an instruction has several. `notebook` holds the `notes` of the last proposal
 * that had some.
 */
export interface ProposeRequest<E = never> extends InitialRequest<E> {
  readonly records: ReadonlyArray<ReflectiveRecord>
  readonly protocol?: Protocol
  readonly history: ReadonlyArray<{
    readonly instruction: Pick<Instruction.Instruction, "text"> & { readonly id?: string }
    readonly score: number
  }>
  readonly name?: string
  readonly notebook?: Notebook
}

/**
 * A call to a proposer that is due. `key` names it: the stream of the request and the number of the call within it, such
 * as `proposal/15/1/0`. `atMost` is what it may spend, its input tokens as estimated.
 */
export interface ModelCall {
  readonly key: string
  readonly atMost: Spent.Spent
}

/** Why a proposer stopped writing: it was done, it reached the limit of tokens, it or its provider declined, or something else. */
export const AnswerEnd = Schema.Literals(["done", "cut", "refused", "other"])
export type AnswerEnd = typeof AnswerEnd.Type

/** What one call to a proposer brought, as JSON can keep it: the text without the thoughts before it, and its cost. */
export const ModelAnswer = Schema.Struct({ text: Schema.String, end: AnswerEnd, spent: Spent.Spent })
export interface ModelAnswer extends Schema.Schema.Type<typeof ModelAnswer> {}

/** Makes a call by running `ask`, or answers in its place. */
export type MakeCall<E> = (
  call: ModelCall,
  ask: Effect.Effect<ModelAnswer, ProposerError>
) => Effect.Effect<ModelAnswer, ProposerError | E>

/**
 * `critique` says what is wrong with the parent. `rejected` are candidates that were written as edits which cannot be applied. `spent` is what its calls cost, those answered by `makeCall` included.
 * `failure` is there where a part of the work failed, and the candidates are what came of the rest. `notes` are for the next request.
 */
export interface Proposal {
  readonly critique: string
  readonly candidates: ReadonlyArray<Instruction.Candidate>
  readonly rejected?: ReadonlyArray<CandidateLint.Rejection>
  readonly spent: Spent.Spent
  readonly failure?: ProposerFailure
  readonly notes?: Schema.Json
}

/**
 * What kept a proposer from answering.
 *
 * - `unreachable`: the proposer did not answer, or not in time, or broke off
 * - `unauthorized`: it does not accept the key
 * - `not-found`: it has no such model, or nothing at that address
 * - `quota-exhausted`: the quota or the credit is used up
 * - `rate-limited`: it took no more requests for now
 * - `rejected`: it does not accept the request, such as one that is too long
 * - `server-error`: it failed
 * - `unreadable`: what it answered is not of its protocol
 * - `refused`: it, or a filter of its provider, declined to write
 * - `empty`: it wrote nothing
 * - `cut`: it reached the limit of tokens before the first candidate
 * - `no-candidates`: no candidate could be found in what it wrote
 * - `other`: anything else
 */
export const ProposerErrorKind = Schema.Literals([
  "unreachable",
  "unauthorized",
  "not-found",
  "quota-exhausted",
  "rate-limited",
  "rejected",
  "server-error",
  "unreadable",
  "refused",
  "empty",
  "cut",
  "no-candidates",
  "other"
])
export type ProposerErrorKind = typeof ProposerErrorKind.Type

const permanent: ReadonlySet<ProposerErrorKind> = new Set(["unauthorized", "not-found", "quota-exhausted"])

const unusable: ReadonlySet<ProposerErrorKind> = new Set(["refused", "empty", "cut", "no-candidates"])

/** Whether asking again, for the same or for something else, fails until somebody fixes the cause. */
export const isPermanent = (kind: ProposerErrorKind): boolean => permanent.has(kind)

/** A {@link ProposerError} as events keep it. */
export const ProposerFailure = Schema.Struct({ kind: ProposerErrorKind, message: Schema.String })
export interface ProposerFailure extends Schema.Schema.Type<typeof ProposerFailure> {}

/**
 * The proposer could not answer; `reason` says why and how to fix it, `spent` what was paid. Without a `kind` it is an `other`.
 * `notes` are those of a proposer that learns, where there was an answer that is of no use.
 */
export class ProposerError extends Schema.TaggedError<ProposerError>()("ProposerError", {
  proposer: Schema.String,
  reason: Schema.String,
  kind: Schema.optionalKey(ProposerErrorKind),
  spent: Schema.optionalKey(Spent.Spent),
  notes: Schema.optionalKey(Schema.Json)
}) {
  override get message() {
    return `proposer ${this.proposer}: ${this.reason}`
  }
  /** Whether it answered, and nothing in the answer is of use. */
  get isUnusable(): boolean {
    return unusable.has(this.failure.kind)
  }
  get failure(): ProposerFailure {
    return { kind: this.kind ?? "other", message: this.message }
  }
}
