/** What time alone brings to a population: cohorts are sealed and closed although nobody asks for anything. */
import { Horizon, Settings, type State } from "@inspo/cohorts"
import type { Latch } from "effect"
import { Clock, Duration, Effect } from "effect"
import type { LivePopulation } from "../LivePopulation.ts"

/** Does what is due, for ever. `news` is opened where settings changed, so that times may be due earlier than before. */
export const run = Effect.fnUntraced(function* (live: LivePopulation, news: Latch.Latch) {
  for (;;) {
    yield* news.close
    const now = yield* Clock.currentTimeMillis
    const state = yield* live.state
    const due = nextDue(state)
    if (due !== null && due <= now) {
      // What cannot be committed now is due again in a while.
      yield* live
        .submit((now) => ({ _tag: "Tick", now }))
        .pipe(
          Effect.catch((error) => Effect.logError(`What is due cannot be done: ${error.message}`)),
          Effect.andThen(Effect.sleep(afterTick))
        )
      continue
    }
    // A cohort that is opened or sealed while this sleeps is due so much later at least.
    const wait = Math.min(due === null ? Infinity : due - now, shortest(state.settings))
    yield* Number.isFinite(wait) ? Effect.raceFirst(Effect.sleep(Duration.millis(wait)), news.await) : news.await
  }
})

/** When the next cohort is to be sealed or closed by its time; null where none is. */
export const nextDue = (state: State.State): number | null => {
  const { cohorts, settings } = state
  const sealAfter = Settings.milliseconds(settings.sealAfterSeconds)
  const horizon = Horizon.horizonOf(state)
  const times = cohorts.flatMap(({ openedAt, sealedAt, status }) => {
    if (status === "open") return sealAfter === null ? [] : [openedAt + sealAfter]
    return status === "sealed" && sealedAt !== null && horizon !== null ? [sealedAt + horizon] : []
  })
  return times.length === 0 ? null : Math.min(...times)
}

const shortest = ({ horizonSeconds, sealAfterSeconds }: Settings.Settings): number => {
  const horizon = horizonSeconds === "observed" ? Horizon.shortest : Settings.milliseconds(horizonSeconds)
  return Math.max(1, Math.min(Settings.milliseconds(sealAfterSeconds) ?? Infinity, horizon ?? Infinity))
}

const afterTick: Duration.Input = "100 millis"
