/** What a population has learned: the part of its state that a rewind brings back. Plain data of a bounded size. */
import { Option, Schema } from "effect"
import { Instruction, Invariant } from "@inspo/domain"
import { Constraint, type Evolution, EvolutionState } from "@inspo/evolution"
import { Difference, Population } from "@inspo/population"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** How a member came in: with the population, by hand, or by evolution. */
export const Entry = Schema.Literals(["creation", "hand", "evolution"])
export type Entry = typeof Entry.Type

/** Samples leased, those reported, late ones too, and the sum of their rewards. `failed` ones are not in `samples`. */
export const Tally = Schema.Struct({
  samples: Count,
  reported: Count,
  sum: Schema.Finite,
  failed: Schema.optionalKey(Count)
})
export interface Tally extends Schema.Schema.Type<typeof Tally> {}

/** Numbers that come with a reward, such as what its work cost. */
export const Metrics = Schema.Record(Schema.String, Schema.Finite)
export type Metrics = typeof Metrics.Type

/** By guardrail. */
export const Tallies = Schema.Record(Schema.String, Constraint.Tally)
export type Tallies = typeof Tallies.Type

/** A guardrail that is broken: the mean, or the share of numbers above it, at least `lower`, where it may be the `limit`. */
export const Broken = Schema.Struct({
  guardrail: Schema.String,
  value: Schema.Finite,
  lower: Schema.Finite,
  limit: Schema.Finite,
  samples: Count
})
export interface Broken extends Schema.Schema.Type<typeof Broken> {}

/**
 * What serving keeps of a member besides its evidence. `tallies` are the estimates by stratum; they decide nothing. `numbers` are those of
 * guardrails in closed cohorts, and a `paused` member is leased no more.
 */
export const MemberStats = Schema.Struct({
  entry: Entry,
  isNewcomer: Schema.Boolean,
  isPinned: Schema.Boolean,
  tallies: Schema.Record(Schema.String, Tally),
  numbers: Schema.optionalKey(Tallies),
  paused: Schema.optionalKey(Broken)
})
export interface MemberStats extends Schema.Schema.Type<typeof MemberStats> {}

/** The id of a candidate while it waits for a review. Verified candidates are numbered again and have other ids. */
export const proposalId = (
  { round, step }: Pick<Evolution, "round" | "step">,
  place: number
): Instruction.InstructionId => Instruction.InstructionId.make(`proposal-${step}.${round}.${place}`)

/** The instruction to use outside learning, and why. It may have left the population, unless a person pinned it. */
export const Incumbent = Schema.Struct({
  id: Instruction.InstructionId,
  content: Instruction.Content,
  why: Schema.Literals([
    "nothing separates",
    "better than the seed",
    "the seed was pruned as worse",
    "the seed left",
    "pinned",
    "switched"
  ])
})
export interface Incumbent extends Schema.Schema.Type<typeof Incumbent> {}

/** Evolution between two cohorts. `reviews` are people's decisions on candidates, null without any; `proven` members beat the seed. */
export const Learning = Schema.Struct({
  ...EvolutionState.fields,
  seed: Instruction.InstructionId,
  stats: Schema.Record(Schema.String, MemberStats),
  reviews: Schema.Array(Schema.NullOr(Schema.Boolean)),
  incumbent: Incumbent,
  proven: Schema.Array(Instruction.InstructionId)
})
export interface Learning extends Schema.Schema.Type<typeof Learning> {}

/** The incumbent: the pinned member if there is one, else that of the evidence. */
export const incumbentOf = (learning: Pick<Learning, "incumbent" | "population" | "stats">): Incumbent => {
  const pinned = Object.entries(learning.stats).find(([, { isPinned }]) => isPinned)
  if (pinned === undefined) return learning.incumbent
  const id = Instruction.InstructionId.make(pinned[0])
  return { id, content: contentOfMember(learning, id), why: "pinned" }
}

/** How much better a member is than the seed; null for the seed, or unless both are members. */
export const toSeed = (
  { population, seed }: Pick<Learning, "population" | "seed">,
  id: Instruction.InstructionId
): Difference.Difference | null => (id === seed ? null : Difference.between(population, id, seed))

/** The statistics of a living member. */
export const statsOf = ({ stats }: Pick<Learning, "stats">, id: Instruction.InstructionId): MemberStats => {
  const found = Object.hasOwn(stats, id) ? stats[id] : undefined
  if (found === undefined) throw new Invariant.InvariantBroken(`the member ${id}`)
  return found
}

/** Whether a member is leased no more, since it broke a guardrail. */
export const isPaused = (stats: Learning["stats"], id: string): boolean =>
  Object.hasOwn(stats, id) && stats[id]?.paused !== undefined

/** The instruction of a living member. */
export const instructionOf = (
  { population }: Pick<Learning, "population">,
  id: Instruction.InstructionId
): Instruction.Instruction => {
  const member = Population.find(population, id)
  if (Option.isNone(member)) throw new Invariant.InvariantBroken(`the member ${id}`)
  return member.value.instruction
}

/** The content of a living member. */
export const contentOfMember = (
  learning: Pick<Learning, "population">,
  id: Instruction.InstructionId
): Instruction.Content => Instruction.contentOf(instructionOf(learning, id))
