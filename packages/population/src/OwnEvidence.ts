/** Rules that own their evidence: any kind of it, beside what a population keeps of its members. */
import { Array as Arr, Schema } from "effect"
import type { Strategy as Named } from "@inspo/domain"
import type { Contents, Value } from "./Contents.ts"
import * as Ranking from "./Ranking.ts"
import { compare, type Interface, type Observed } from "./Values.ts"

/**
 * A rule over evidence of its own, which is stored with the population. All functions are pure. `observe` adds a unit of time; `decide`
 * gives each member a value, in the order of the population, also to one that the evidence does not know. Evidence about members that left
 * may be forgotten.
 */
export interface Strategy<Evidence> {
  readonly identity: Named.Identity
  readonly evidence: Schema.Codec<Evidence, Schema.Json>
  readonly initial: Evidence
  readonly observe: (evidence: Evidence, population: Contents, groups: ReadonlyArray<Observed>) => Evidence
  readonly decide: (evidence: Evidence, population: Contents) => ReadonlyArray<Value>
}

/** The rule as a valuation, for the registry of rules or as a service. Lifetime records and differences are kept as ever. */
export const valuation = <Evidence>({
  decide,
  evidence,
  identity,
  initial,
  observe
}: Strategy<Evidence>): Interface => {
  const [decode, encode] = [Schema.decodeSync(evidence), Schema.encodeSync(evidence)]
  const evidenceOf = ({ own }: Contents) => (own === undefined ? initial : decode(own))
  const values = (population: Contents) => decide(evidenceOf(population), population)
  return {
    identity,
    observe: (population, step, groups) => {
      const after = compare.observe(population, step, groups)
      return { ...after, own: encode(observe(evidenceOf(population), after, groups)) }
    },
    values,
    best: (population) => Arr.head(Ranking.explored(population, values(population)))
  }
}
