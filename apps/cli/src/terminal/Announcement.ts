import { Degradation, type RunEvent } from "@inspo/coevolution"
import { type Instruction, PlainText } from "@inspo/domain"
import { CandidateLint, type ProposerFailure } from "@inspo/reflection"
import { Bootstrap } from "@inspo/statistics"
import { Text, percent, plural } from "@inspo/report"
import { Projection } from "@inspo/analysis"
import { Array as Arr, Schema } from "effect"
import type { Leader } from "./Progress.ts"

/**
 * The lines worth keeping about an event: each prune, each evolution with the text that won, the failures of the proposer, and
 * why candidates were rejected without a trial. Most events have none. `tried` are the candidates that a refill chose among.
 */
export const announce = (
  event: RunEvent,
  { leader, tried }: { readonly leader: Leader | null; readonly tried: number },
  columns: number
): ReadonlyArray<string> => {
  switch (event._tag) {
    case "PopulationInitialised":
      return failed(0, event, columns)
    case "CandidatesProposed":
      return [...failed(event.step, event, columns), ...rejected(event, columns)]
    case "Pruned":
      return event.pruned.length === 0
        ? []
        : [
            ...Text.wrap(
              `step ${event.step}: pruned ${event.pruned.map(({ id, value }) => `${id} (${percent(value)})`).join(", ")}; ` +
                `${event.kept.length} left`,
              columns
            ),
            ...(leader === null
              ? []
              : textOf(
                  leader.best,
                  leader.value === null ? "leads, not drawn lately" : `leads with value ${percent(leader.value)}`,
                  columns
                ))
          ]
    case "PopulationRefilled":
      return [
        ...Text.wrap(
          event.accepted.length === 0
            ? `step ${event.step}: ${
                tried === 0
                  ? "no evolution, because there was no candidate to try"
                  : `evolved, but no candidate was as good as ${event.parents.join(", ")}`
              }`
            : `step ${event.step}: evolved ${event.parents.join(", ")}; ${newcomers(event.accepted)}` +
                (event.shortfall > 0
                  ? `, ${plural(event.shortfall, "place")} ${event.shortfall === 1 ? "stays" : "stay"} empty`
                  : ""),
          columns
        ),
        ...event.accepted
          .slice(0, 1)
          .flatMap(({ instruction, mean, questions }) =>
            textOf(
              instruction,
              questions === 0 ? "is to be tried" : `won with ${percent(mean)} on ${plural(questions, "question")}`,
              columns
            )
          )
      ]
    case "Validated":
      return Text.wrap(
        `step ${event.step}: ${percent(Bootstrap.meanOf(event.groups.flatMap(({ rewards }) => rewards)))} on ${event.groups.length} ` +
          `validation questions with ${event.instruction}`,
        columns
      )
    case "EvolutionSkipped":
      return Text.wrap(`step ${event.step}: no evolution, ${event.reason}`, columns)
    default:
      return []
  }
}

const failed = (step: number, { failure }: { readonly failure?: ProposerFailure }, columns: number) =>
  failure === undefined ? [] : Text.wrap(`step ${step}: the proposer failed: ${failure.message}`, columns)

/** Candidates that broke a rule; repetitions do not. */
const rejected = (
  { candidates, rejected: all, step }: Extract<RunEvent, { readonly _tag: "CandidatesProposed" }>,
  columns: number
): ReadonlyArray<string> => {
  const faults = all.filter(({ reason }) => !Degradation.repetitions.has(reason))
  if (faults.length === 0) return []
  const why = Object.entries(Arr.groupBy(faults, ({ reason }) => reason)).map(
    ([reason, some]) =>
      `${some.length} because each ${isReason(reason) ? CandidateLint.description[reason] : PlainText.escape(reason)}`
  )
  return Text.wrap(
    `step ${step}: ${faults.length} of ${plural(candidates.length + all.length, "candidate")} rejected without a trial, ${why.join("; ")}`,
    columns
  )
}

const isReason = Schema.is(CandidateLint.RejectionReason)

/** The lines of a whole run, one event after the other. */
export const announceAll = (events: ReadonlyArray<RunEvent>, columns: number): ReadonlyArray<string> => {
  let tried = 0
  return events.flatMap((event) => {
    const lines = announce(event, { leader: null, tried }, columns)
    tried = Projection.tried(tried, event)
    return lines
  })
}

const textOf = (instruction: Instruction.Instruction, why: string, columns: number): ReadonlyArray<string> => [
  `  ${instruction.id} ${why}:`,
  ...Text.paragraph(instruction.text, "    ", columns)
]

/** How many candidates entered: untried ones, or those that passed their verification. */
const newcomers = (accepted: Extract<RunEvent, { readonly _tag: "PopulationRefilled" }>["accepted"]): string =>
  accepted.some(({ questions }) => questions > 0)
    ? `${plural(accepted.length, "candidate")} passed`
    : `${plural(accepted.length, "newcomer")} to be tried`
