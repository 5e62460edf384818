import * as Projection from "@inspo/coevolution/Projection"
import type { LifeEvent } from "../RunRecord.ts"
import type { Mark } from "../view/OverviewView.ts"

/** The decisions about the population, in order, each as one line. */
export const marks = (events: ReadonlyArray<LifeEvent>): ReadonlyArray<Mark> => {
  let candidates = 0
  return events.flatMap((event): ReadonlyArray<Mark> => {
    const tried = candidates
    candidates = Projection.tried(candidates, event)
    switch (event._tag) {
      case "Pruned":
        return event.pruned.length === 0
          ? []
          : [{ step: event.step, kind: "prune", text: `pruned ${event.pruned.map(({ id }) => id).join(", ")}` }]
      case "PopulationRefilled":
        return [
          {
            step: event.step,
            kind: "evolve",
            text:
              event.accepted.length === 0
                ? tried === 0
                  ? "no candidate to try"
                  : `no candidate of ${event.parents.join(", ")} passed verification`
                : `${event.parents.join(", ")} → ${event.accepted.map(({ instruction }) => instruction.id).join(", ")}`
          }
        ]
      case "EvolutionSkipped":
        return [{ step: event.step, kind: "skip", text: `not evolved: ${event.reason}` }]
      default:
        return []
    }
  })
}
