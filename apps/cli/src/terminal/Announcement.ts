import type { RunEvent } from "@inspo/coevolution/RunEvent"
import type { Instruction } from "@inspo/domain"
import type { Standing } from "./Progress.ts"
import { paragraph, share } from "./Text.ts"

/** The lines worth keeping about an event: each prune and each evolution with the text that won. Mostly none. */
export const announce = (event: RunEvent, standing: Standing | null, columns: number): ReadonlyArray<string> => {
  switch (event._tag) {
    case "Pruned":
      return event.pruned.length === 0
        ? []
        : [
            ...paragraph(
              `step ${event.step}: pruned ${event.pruned.map(({ id, weight }) => `${id} (${share(weight)})`).join(", ")}; ` +
                `${event.kept.length} left`,
              "",
              columns
            ),
            ...(standing === null ? [] : leader(standing.best, `leads with weight ${share(standing.weight)}`, columns))
          ]
    case "PopulationRefilled":
      return [
        ...paragraph(
          event.accepted.length === 0
            ? `step ${event.step}: evolved, but no candidate was as good as ${event.parents.join(", ")}`
            : `step ${event.step}: evolved ${event.parents.join(", ")}; ${event.accepted.length} candidates passed` +
                (event.shortfall > 0 ? `, ${event.shortfall} places stay empty` : ""),
          "",
          columns
        ),
        ...event.accepted
          .slice(0, 1)
          .flatMap(({ instruction, mean, questions }) =>
            leader(
              instruction,
              questions === 0 ? "comes first, untried" : `won with ${share(mean)} on ${questions} questions`,
              columns
            )
          )
      ]
    case "Validated":
      return paragraph(
        `step ${event.step}: ${share(mean(event.groups.flatMap(({ rewards }) => rewards)))} on ${event.groups.length} ` +
          `validation questions with ${event.instruction}`,
        "",
        columns
      )
    case "EvolutionSkipped":
      return paragraph(`step ${event.step}: no evolution, ${event.reason}`, "", columns)
    default:
      return []
  }
}

const mean = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

const leader = (instruction: Instruction.Instruction, why: string, columns: number): ReadonlyArray<string> => [
  `  ${instruction.id} ${why}:`,
  ...paragraph(instruction.text, "    ", columns)
]
