import type { Method } from "@inspo/domain"
import type { Schema } from "effect"
import type { ProposeRequest } from "./Proposer.ts"

/** What a proposer needs to know to learn from its last proposal. */
export type LearnRequest = Pick<ProposeRequest, "name" | "notebook" | "parent">

/**
 * A proposer that learns from what its proposals bring: it changes the method by which the language model finds what to change.
 * `standard` is the method without learning. Pure: all that it knows is in the notes of the request.
 */
export interface Learner {
  readonly learn: (request: LearnRequest, standard: string) => Lesson
}

/** `question` is put to the language model first, unless it is null; `read` gets the answer, null for none. */
export interface Lesson {
  readonly question: string | null
  readonly read: (answer: string | null) => { readonly method: string; readonly notes: Schema.Json }
}

/** A row of the registry of learners. */
export interface LearnerKind<
  Name extends string = string,
  C extends Method.Constants = Method.Constants
> extends Method.Method<Name, C> {
  readonly parameters: Schema.Struct.Fields
  of(this: void, constants: C): Learner
}
