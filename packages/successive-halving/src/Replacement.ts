/** How newcomers get their places. Pure functions that load neither schemas nor services. */
import { type Instruction, InvalidInput, type Strategy } from "@inspo/domain"
import { type Population, Ranking } from "@inspo/population"
import { ids } from "@inspo/population/Members"
import type { Entrants, Pruned } from "./Decisions.ts"
import { recordWith } from "./Halving.ts"

/** A rule of admission. Pure; `values` ranks the members, with one for each. */
export interface Interface {
  readonly identity: Strategy.Identity
  /** What bounds an evolution, after the `latest` one; absent if only the places do. */
  readonly bounds?: (population: Population.Contents, latest: Entrants | null) => Bounds
  /** The members that newcomers replace, worst first: none of `staying`, and at least as many as leave `size` members. */
  readonly replaced: (
    population: Population.Contents,
    values: ReadonlyArray<Population.Value>,
    staying: ReadonlySet<Instruction.InstructionId>,
    size: number
  ) => ReadonlyArray<Pruned>
}

/** Members that make no room, besides parents, and the most newcomers. */
export interface Bounds {
  readonly kept: ReadonlyArray<Instruction.InstructionId>
  readonly newcomers: number
}

/** As in the paper: newcomers replace all members but those who stay. */
export const allOthers = ({ ties = "order" }: { readonly ties?: Ranking.Ties } = {}): Interface => ({
  identity: { name: "all-others", parameters: { ties } },
  replaced: (population, values, staying) => {
    const present = new Set(ids(population))
    for (const id of staying)
      if (!present.has(id))
        InvalidInput.refuse({ where: "Replacement", field: "staying", value: id, expected: "the id of a member" })
    const record = recordWith(values)
    return Ranking.byTies[ties](population, values)
      .map(({ instruction }) => instruction.id)
      .filter((id) => !staying.has(id))
      .toReversed()
      .map((id) => record(id, "forced"))
  }
})
