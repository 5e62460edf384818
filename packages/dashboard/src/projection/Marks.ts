import { Projection } from "@inspo/analysis"
import { labels } from "@inspo/report"
import type { RunRecord } from "../RunRecord.ts"
import type { Mark } from "../view/OverviewView.ts"

/** The decisions about the population, in order, each as one line. */
export const marks = ({ lives, names }: Pick<RunRecord, "lives" | "names">): ReadonlyArray<Mark> => {
  const label = labels(names)
  const listed = (ids: ReadonlyArray<string>) => ids.map(label).join(", ")
  let candidates = 0
  return lives.flatMap((event): ReadonlyArray<Mark> => {
    const tried = candidates
    candidates = Projection.tried(candidates, event)
    switch (event._tag) {
      case "Pruned":
        return event.pruned.length === 0
          ? []
          : [{ step: event.step, kind: "prune", text: `pruned ${listed(event.pruned.map(({ id }) => id))}` }]
      case "PopulationRefilled":
        return [
          {
            step: event.step,
            kind: "evolve",
            text:
              event.accepted.length === 0
                ? tried === 0
                  ? "no candidate to try"
                  : `no candidate of ${listed(event.parents)} passed verification`
                : `${listed(event.parents)} → ${listed(event.accepted.map(({ instruction }) => instruction.id))}`
          }
        ]
      case "EvolutionSkipped":
        return [{ step: event.step, kind: "skip", text: `not evolved: ${event.reason}` }]
      default:
        return []
    }
  })
}
