/** How things are called on the wire. */
import { Schema } from "effect"
import * as Limits from "./Limits.ts"

/** Text without lone surrogates: a name that has one cannot be a key of the journal or part of a URL. */
export const isWellFormed = Schema.makeFilter((text: string) => text.isWellFormed(), {
  expected: "well-formed Unicode text, without lone surrogates"
})

/** A schema is described by its last check, so that comes last which JSON Schema knows. */
const Name = Schema.NonEmptyString.check(isWellFormed, Schema.isMaxLength(Limits.nameLength))

/** A population's name, as it stands in a path: letters, digits, `.`, `_` and `-`, beginning with a letter or digit. */
export const PopulationName = Name.check(Schema.isPattern(/^[A-Za-z0-9][\w.-]*$/u)).annotate({
  description: "Letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
})

/** A cohort's name: the trainer's, such as `train/12`, or the server's. */
export const CohortName = Name.annotate({ description: "A cohort, such as `train/12`" })

/** Identifies a lease among those of all populations. The server gives it, and it means nothing else. */
export const LeaseId = Schema.NonEmptyString.check(isWellFormed, Schema.isMaxLength(Limits.leaseLength)).annotate({
  description: "A lease, as the server called it"
})

/** What a lease is asked for by: the same key in a cohort is answered with the same lease. */
export const Key = Name.annotate({
  description: "The caller's name of the work; the same key in a cohort gets the same lease"
})

/** A kind of question that is estimated apart, such as a data source. */
export const Stratum = Name.annotate({ description: "A kind of work that is estimated apart" })

/** A question of the caller's data set. */
export const QuestionId = Name.annotate({ description: "A question, such as its row in a data set" })

/** A request that is done once, however often it arrives. */
export const RequestId = Name.annotate({ description: "The same id is done once" })

/** The version of the policy that does the work. */
export const PolicyVersion = Schema.String.check(isWellFormed, Schema.isMaxLength(Limits.nameLength))

/** An instruction within its population, such as `i0` for the seed. */
export const InstructionId = Name.annotate({ description: "`i0` is the seed" })
