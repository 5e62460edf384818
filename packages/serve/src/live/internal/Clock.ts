/** Seals and closes the cohorts of a population by time, without requests. */
import { Horizon, Settings, type State } from "@inspo/cohorts"
import { Clock, Duration, Effect, type Latch } from "effect"
import type { LivePopulation } from "../LivePopulation.ts"

/** Handles what is due, without end. `news` is opened after a change of settings, which may make times due earlier. */
export const run = Effect.fnUntraced(function* (live: LivePopulation, news: Latch.Latch) {
  for (;;) {
    yield* news.close
    const now = yield* Clock.currentTimeMillis
    const state = yield* live.state
    const due = nextDue(state)
    if (due !== null && due <= now) {
      // What cannot be committed is due again after a pause.
      yield* live
        .submit((now) => ({ _tag: "Tick", now }))
        .pipe(
          Effect.catch((error) => Effect.logError(`Cohorts cannot be sealed or closed: ${error.message}`)),
          Effect.andThen(Effect.sleep(afterTick))
        )
      continue
    }
    // A cohort that is opened or sealed meanwhile is due no earlier than this.
    const wait = Math.min(due === null ? Infinity : due - now, shortest(state.settings))
    yield* Number.isFinite(wait) ? Effect.raceFirst(Effect.sleep(Duration.millis(wait)), news.await) : news.await
  }
})

const nextDue = (state: State.State): number | null => {
  const times = state.cohorts.map((cohort) =>
    cohort.status === "open"
      ? Horizon.sealsAt(state, cohort)
      : cohort.status === "sealed"
        ? Horizon.settlesAt(state, cohort.sealedAt)
        : null
  )
  return times.reduce((next, at) => (next === null || (at !== null && at < next) ? at : next), null)
}

const shortest = ({ horizonSeconds, sealAfterSeconds }: Settings.Settings): number => {
  const horizon = horizonSeconds === "observed" ? Horizon.shortest : Settings.milliseconds(horizonSeconds)
  return Math.max(1, Math.min(Settings.milliseconds(sealAfterSeconds) ?? Infinity, horizon ?? Infinity))
}

const afterTick: Duration.Input = "100 millis"
