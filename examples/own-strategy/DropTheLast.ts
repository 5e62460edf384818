import { Invariant } from "@inspo/domain"
import { Ranking } from "@inspo/population"
import { SuccessiveHalving } from "@inspo/successive-halving"
import { Layer } from "effect"

/** Each prune drops the last of the population alone, where the shipped rules drop up to half of it. */
export const dropTheLast = (parents: number): SuccessiveHalving.Strategy => ({
  // Parents, and who gives way to newcomers, are chosen as ever.
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
