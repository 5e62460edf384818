/** How often what `evolve()` claims is false: of agents that hardly ever succeed, and with few cases. */
import { Exact } from "@inspo/statistics"
import type { Outcome } from "./Outcome.ts"
import type { Budget } from "./Trial.ts"
import { bank, rare, type World, worlds } from "./World.ts"

/** What is claimed of one kind of agent with one budget. */
export interface Claims {
  readonly kind: string
  readonly headroom: boolean
  readonly calls: number
  readonly cases: number
  readonly noHeadroom: Exact.Proportion
  /** Of the searches that tried a prompt which is truly better by the minimal gain, those that deny it. */
  readonly denied: Exact.Proportion | null
  /** Of the tested prompts, those whose true gain is in the interval of the test. */
  readonly covered: Exact.Proportion | null
}

export interface Cell {
  readonly world: World
  readonly budget: Omit<Budget, "seed">
  /** What is tried in place of the scripted proposer, which would know the clause that helps from the first failure. */
  readonly sentences?: ReadonlyArray<string>
}

export const cells: ReadonlyArray<Cell> = [
  ...[true, false].flatMap((headroom) =>
    [300, 1000].map((calls) => ({ world: rare(headroom), budget: { calls, cases: 100 }, sentences: bank }))
  ),
  ...worlds
    .filter(({ headroom, name }) => headroom && (name === "additive clauses" || name === "drift"))
    .map((world) => ({ world, budget: { calls: 60, cases: 20 } }))
]

/** The directory of the finished searches of a cell. */
export const directoryOf = ({ budget }: Cell): string => `claims-${budget.calls}-${budget.cases}/`

export const claimsOf = ({ budget, world }: Cell, outcomes: ReadonlyArray<Outcome>): Claims => {
  const share = (some: ReadonlyArray<Outcome>, holds: (one: Outcome) => boolean) =>
    some.length === 0 ? null : Exact.proportion(some.filter(holds).length, some.length)
  const claims = ({ verdict }: Outcome) => verdict === "no-headroom"
  return {
    kind: world.name,
    headroom: world.headroom,
    ...budget,
    noHeadroom: Exact.proportion(outcomes.filter(claims).length, outcomes.length),
    denied: share(
      outcomes.filter(({ tried }) => tried !== null && tried >= minimalGain),
      claims
    ),
    covered: share(
      outcomes.filter(({ covered }) => covered !== null),
      ({ covered }) => covered === true
    )
  }
}

/** The default of `evolve()`. */
const minimalGain = 0.1
