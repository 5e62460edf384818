import * as Order from "effect/Order"
import * as Invariant from "@inspo/domain/Invariant"
import type { Member, Contents, Value } from "./Contents.ts"

/** Sorts the members, best first, by the given values. Every member needs a value. */
export type Ranking = (population: Contents, values: ReadonlyArray<Value>) => ReadonlyArray<Member>

/** Members of equal value stay in the order of the population, as in a stable sort. */
export const stable: Ranking = (population, values) => population.members.toSorted(byValue(values))

/** Equal values: the member with more groups first, then the older; a total order, whatever the order of the population. */
export const explored: Ranking = (population, values) =>
  population.members.toSorted(Order.combineAll([byValue(values), byGroups, byAge]))

/** The order of members of equal value: {@link stable} or {@link explored}. */
export type Ties = "order" | "evidence"

/** The ranking of each way to break ties. */
export const byTies: Readonly<Record<Ties, Ranking>> = { order: stable, evidence: explored }

const byValue = (values: ReadonlyArray<Value>): Order.Order<Member> => {
  const valueOf = new Map(values.map(({ id, value }) => [id, value]))
  return Order.flip(Order.mapInput(Order.Number, (member) => Invariant.get(valueOf, member.instruction.id, "value")))
}

const byGroups: Order.Order<Member> = Order.flip(Order.mapInput(Order.Number, (member) => member.lifetime.groups))

const byAge: Order.Order<Member> = Order.combineAll([
  Order.mapInput(Order.Number, (member) => member.instruction.bornAt),
  // Numbered ids of one step: i2 before i10.
  Order.mapInput(Order.Number, (member) => member.instruction.id.length),
  Order.mapInput(Order.String, (member) => member.instruction.id)
])
