import { Invariant } from "@inspo/domain"
import { Ranking } from "@inspo/population"
import { SuccessiveHalving } from "@inspo/successive-halving"
import { Layer } from "effect"

/** Each prune removes only the worst member; the included rules remove up to half of the population. */
export const dropTheLast = (parents: number): SuccessiveHalving.Strategy => ({
  // Choose parents, and the members that newcomers replace, as usual.
  ...SuccessiveHalving.bottomHalf({ parents }),
  identity: { name: "drop-the-last", parameters: { parents } },
  prune: (population, values) => {
    const valueOf = new Map(values.map(({ id, value }) => [id, value]))
    const ranked = Ranking.explored(population, values).map(({ instruction }) => instruction.id)
    const size = Math.max(parents, ranked.length - 1)
    return {
      kept: ranked.slice(0, size),
      pruned: ranked
        .slice(size)
        .map((id) => ({ id, value: Invariant.get(valueOf, id, "value"), reason: "bottom-half" })),
      spared: []
    }
  }
})

export const layer = (parents: number) => Layer.succeed(SuccessiveHalving.SuccessiveHalving, dropTheLast(parents))
