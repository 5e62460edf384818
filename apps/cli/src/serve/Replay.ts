/** Repeats the decisions of a served population from its log alone. */
import { Replay } from "@inspo/cohorts"
import { Effect } from "effect"
import { commandFailure } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { Text } from "@inspo/report"
import { type Place, read } from "./StoredPopulations.ts"
import { JsonFlag } from "../commands/handler.ts"

/** Compares each decision with the logged one; exit code 1 at the first difference. */
export const replay = Effect.fn("Served.replay")(function* (place: Place) {
  const { directory } = place
  const { log } = yield* read(place)
  const { decisions, difference, events, state } = Replay.replay(log.map(({ event }) => event))
  const { incumbent, population } = state.learning
  const document = { directory, ok: difference === null, events, decisions, difference, incumbent: incumbent.id }
  if ((yield* JsonFlag) || difference === null)
    yield* Reporter.print(document, (columns) =>
      Text.wrap(
        `${decisions} decisions of ${population.step} cohorts equal the logged ones, in ${events} events. The incumbent is ${incumbent.id}.`,
        columns
      )
    )
  if (difference !== null)
    return yield* commandFailure(
      `Event ${difference.index} (${difference.event}) differs: logged ${Text.clip(difference.logged, 200)}, ` +
        `replayed ${Text.clip(difference.replayed, 200)}. Restore the journal from a backup, or find out what changed it.`
    )
})
