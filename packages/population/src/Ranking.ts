import { Order } from "effect"
import * as Invariant from "@inspo/domain/Invariant"
import type { Member, Population, Weight } from "./Population.ts"

/** Puts the members in order, best first, by the given weights, of which every member has one. */
export type Ranking = (population: Population, weights: ReadonlyArray<Weight>) => ReadonlyArray<Member>

/** Members of equal weight stay in the order of the population, as a stable sort leaves them. */
export const stable: Ranking = (population, weights) => population.members.toSorted(byWeight(weights))

/**
 * Members of equal weight: the one with more observed groups first, then the older. This order is total, so the result
 * does not depend on the order of the population.
 */
export const explored: Ranking = (population, weights) =>
  population.members.toSorted(Order.combineAll([byWeight(weights), byGroups, byAge]))

/** Who comes first among members of equal weight: as {@link stable} or as {@link explored} says. */
export type Ties = "order" | "evidence"

/** The ranking of each way to break ties. */
export const byTies: Readonly<Record<Ties, Ranking>> = { order: stable, evidence: explored }

const byWeight = (weights: ReadonlyArray<Weight>): Order.Order<Member> => {
  const weightOf = new Map(weights.map(({ id, weight }) => [id, weight]))
  return Order.flip(Order.mapInput(Order.Number, (member) => Invariant.get(weightOf, member.instruction.id, "weight")))
}

const byGroups: Order.Order<Member> = Order.flip(Order.mapInput(Order.Number, (member) => member.lifetime.groups))

const byAge: Order.Order<Member> = Order.combineAll([
  Order.mapInput(Order.Number, (member) => member.instruction.bornAt),
  // Numbered ids of one step: i2 before i10.
  Order.mapInput(Order.Number, (member) => member.instruction.id.length),
  Order.mapInput(Order.String, (member) => member.instruction.id)
])
