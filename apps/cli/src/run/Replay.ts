import { Text, plural } from "@inspo/report"
import { algorithmOf } from "@inspo/config"
import { EventLog, Replay, Strategies } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { Clock, Effect, Layer } from "effect"
import { loadData } from "../config/Data.ts"
import { commandFailure } from "../Failure.ts"
import { readConfig } from "../runDirectory/ConfigFile.ts"
import { layerReading } from "../runDirectory/Read.ts"
import * as Stored from "../serve/StoredPopulations.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface ReplayInput {
  readonly directory: string
}

/** Replays a run, or a served population, from its journal alone. Exit code 1 at the first difference. */
export const replay = Effect.fnUntraced(function* ({ directory }: ReplayInput) {
  const place = yield* Stored.findOne(directory)
  if (place !== null) {
    const module = yield* Effect.promise(() => import("../serve/Replay.ts"))
    return yield* module.replay(place)
  }
  return yield* replayRun(directory)
})

/** Compares the events and states of a run with those committed. */
const replayRun = Effect.fn("Replay.replayRun")(function* (directory: string) {
  yield* Effect.annotateCurrentSpan({ directory })
  const began = yield* Clock.currentTimeMillis
  const config = yield* readConfig(directory)
  const { data } = yield* loadData(config)
  const replayed = yield* Effect.gen(function* () {
    const entries = yield* EventLog.readEntries(yield* Journal)
    return yield* Replay.replay({ algorithm: algorithmOf(config), data, entries })
  }).pipe(Effect.provide(Layer.merge(layerReading(directory, config), Strategies.layer(config)), { local: true }))
  const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
  const { difference, events, hashes, state, stateHash } = replayed

  const document = {
    runDir: directory,
    ok: difference === null,
    events,
    steps: state.step,
    hashes,
    stateHash,
    difference,
    seconds
  }
  yield* Reporter.print(document, (columns) => {
    const unchecked = hashes.other === 0 ? "" : `, ${hashes.other} have no state hash of this version`
    return [
      ...Text.wrap(
        `${plural(events, "event")} of ${plural(state.step, "step")} match the committed ones, replayed in ${seconds.toFixed(1)} s: ` +
          `${hashes.equal} state hashes are equal${unchecked}.`,
        columns
      ),
      `State ${stateHash}`
    ]
  })
  if (difference !== null)
    return yield* commandFailure(
      `Event ${difference.sequence} (${difference.event}, step ${difference.step}) differs` +
        `${difference.path === "" ? "" : ` in ${difference.path}`}: recorded ${difference.recorded}, replayed ${difference.replayed}.`
    )
})
