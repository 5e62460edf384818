import { Projection } from "@inspo/analysis"
import { EventLog, type RunEvent } from "@inspo/coevolution"
import { Ledger } from "@inspo/ledger"
import { Group } from "@inspo/domain"
import { Journal, type JournalError } from "@inspo/journal"
import { Effect } from "effect"

/** The history of a run in sentences, with its cost. Also works during a run. */
export const story: Effect.Effect<ReadonlyArray<string>, JournalError, Journal> = Effect.gen(function* () {
  const journal = yield* Journal
  const events = yield* EventLog.read(journal)
  const { total } = Ledger.summarize(yield* journal.ledger)
  const fates = Projection.candidates(events)
  return [
    ...events.flatMap(sentence),
    `${fates.length} candidates were proposed: ${count(fates.map(({ fate }) => fate))}.`,
    `In total ${total.rollouts} rollouts with ${total.tokens} tokens.`
  ]
})

/** A sentence for each relevant event. Events contain rewards and references; texts are in separate records. */
const sentence = (event: RunEvent): ReadonlyArray<string> => {
  switch (event._tag) {
    case "PopulationInitialised":
      return [`The run started with ${event.instructions.length} instructions.`]
    case "RolloutsCollected":
      return [`Step ${event.step}: mean reward ${mean(event.groups.map(Group.meanReward)).toFixed(2)}.`]
    case "Pruned":
      return event.pruned.map(({ id, reason, value }) => `${id} left with value ${value.toFixed(2)} (${reason}).`)
    case "CandidatesProposed":
      return [`The proposer read ${event.failures.length} failures of ${event.parent}. ${event.critique}`]
    case "PopulationRefilled":
      return event.accepted.map(({ instruction, mean, verdict }) => {
        const { id, parent } = instruction
        return `${id}, a child of ${parent}, entered with ${mean.toFixed(2)} on its verification set (${verdict}).`
      })
    case "RunFinished":
      return [`The best instruction is ${event.best}.`]
    default:
      return []
  }
}

const mean = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** How often each text occurs, as `3 pruned, 1 alive`. */
const count = (texts: ReadonlyArray<string>): string =>
  [...new Set(texts)].map((text) => `${texts.filter((other) => other === text).length} ${text}`).join(", ")
