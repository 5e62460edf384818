import { Invariant } from "@inspo/domain"
import { Ranking } from "@inspo/population"
import { Removal } from "@inspo/successive-halving"
import { Layer } from "effect"

/** Each prune removes only the worst member; the included rules remove up to half of the population. */
export const dropTheLast = (parents: number): Removal.Interface => ({
  // Choose parents as usual.
  ...Removal.bottomHalf({ parents, ties: "evidence" }),
  identity: { name: "drop-the-last", parameters: { parents } },
  prune: (population, values, protectedIds = new Set()) => {
    const valueOf = new Map(values.map(({ id, value }) => [id, value]))
    const ranked = Ranking.explored(population, values).map(({ instruction }) => instruction.id)
    const last = ranked.slice(Math.max(parents, ranked.length - 1))
    const removed = last.filter((id) => !protectedIds.has(id))
    return {
      kept: ranked.filter((id) => !removed.includes(id)),
      pruned: removed.map((id) => ({ id, value: Invariant.get(valueOf, id, "value"), reason: "bottom-half" })),
      spared: last.filter((id) => protectedIds.has(id))
    }
  }
})

export const layer = (parents: number) => Layer.succeed(Removal.Removal, dropTheLast(parents))
