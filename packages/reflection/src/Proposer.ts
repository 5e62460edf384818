import type { Failure } from "@inspo/domain/Experience"
import type { Candidate, Instruction } from "@inspo/domain/Instruction"
import type { StreamPath } from "@inspo/domain/RandomStream"
import { Context, type Effect, Schema } from "effect"

/** Writes candidate instructions: an optimizer, or rules in its place. */
export class Proposer extends Context.Service<Proposer, Proposer.Interface>()("@inspo/reflection/Proposer") {}

export declare namespace Proposer {
  export interface Interface {
    /** Revisions of a parent that should avoid its failures. Candidates are as the proposer wrote them: not linted. */
    readonly propose: (request: ProposeRequest) => Effect.Effect<Proposal, ProposerError>
    /** Variants of the first instruction, before anything is known about it. They differ from it and from each other. */
    readonly initial: (request: InitialRequest) => Effect.Effect<Proposal, ProposerError>
  }
}

/** `count` is how many candidates are asked for; a proposal may hold fewer. `seed` and `stream` name the random stream. */
export interface InitialRequest {
  readonly parent: Pick<Instruction, "text">
  readonly count: number
  readonly seed: number
  readonly stream: StreamPath
}

/** `history` are instructions with their scores in [0, 1], in any order. */
export interface ProposeRequest extends InitialRequest {
  readonly failures: ReadonlyArray<Failure>
  readonly history: ReadonlyArray<{ readonly instruction: Pick<Instruction, "text">; readonly score: number }>
}

/** `critique` says what is wrong with the parent. `spent` counts calls to an optimizer and their tokens. */
export interface Proposal {
  readonly critique: string
  readonly candidates: ReadonlyArray<Candidate>
  readonly spent: { readonly calls: number; readonly tokens: number }
}

/** The proposer could not answer; `reason` says why and how to mend it. */
export class ProposerError extends Schema.TaggedError<ProposerError>()("ProposerError", {
  proposer: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `proposer ${this.proposer}: ${this.reason}`
  }
}
