/** The names in requests and answers. */
import { Schema } from "effect"
import * as Limits from "./Limits.ts"

/** Text without lone surrogates: a name that has one cannot be a key of the journal or part of a URL. */
export const isWellFormed = Schema.makeFilter((text: string) => text.isWellFormed(), {
  expected: "well-formed Unicode text, without lone surrogates"
})

/** JSON Schema describes a schema by its last check, so a check that it supports is the last. */
const Name = Schema.NonEmptyString.check(isWellFormed, Schema.isMaxLength(Limits.nameLength))

/** A population's name, which is part of paths. */
export const PopulationName = Name.check(Schema.isPattern(/^[A-Za-z0-9][\w.-]*$/u)).annotate({
  description: "Letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
})

/** A cohort's name: the trainer's, such as `train/12`, or the server's. */
export const CohortName = Name.annotate({ description: "A cohort, such as `train/12`" })

/** The id of a lease among those of all populations, made by the server. */
export const LeaseId = Schema.NonEmptyString.check(isWellFormed, Schema.isMaxLength(Limits.leaseLength)).annotate({
  description: "A lease, as the server identified it"
})

/** The key of a request for a lease. */
export const Key = Name.annotate({
  description: "The caller's name of the work; the same key in a cohort gets the same lease"
})

/** A kind of question with estimates of its own, such as a data source. */
export const Stratum = Name.annotate({ description: "A kind of work with estimates of its own" })

/** A question of the caller's data set. */
export const QuestionId = Name.annotate({ description: "A question, such as its row in a data set" })

/** The id of a request that is done once, however often it arrives. */
export const RequestId = Name.annotate({ description: "A request with the same id is done once" })

/** The version of the policy that does the work. */
export const PolicyVersion = Schema.String.check(isWellFormed, Schema.isMaxLength(Limits.nameLength))

/** An instruction within its population, such as `i0` for the seed. */
export const InstructionId = Name.annotate({ description: "`i0` is the seed" })
