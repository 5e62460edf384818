/** Repeats the decisions of a served population from its log alone: under its own or other settings. */
import { Replay, type Settings } from "@inspo/cohorts"
import { Effect, Equal, Schema } from "effect"
import { commandFailure, type UsageError, usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { Text } from "@inspo/report"
import { type Place, read } from "./StoredPopulations.ts"
import { JsonFlag } from "../commands/handler.ts"

export const play = Effect.fnUntraced(function* (place: Place, set: ReadonlyArray<string>) {
  const { log } = yield* read(place)
  const events = log.map(({ event }) => event)
  return yield* set.length === 0 ? replay(place, events) : whatIf(place, events, set)
})

type Log = Parameters<typeof Replay.replay>[0]

const replay = Effect.fn("Served.replay")(function* ({ directory }: Place, log: Log) {
  const { decisions, difference, events, state } = Replay.replay(log)
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

const whatIf = Effect.fn("Served.whatIf")(function* ({ directory }: Place, log: Log, set: ReadonlyArray<string>) {
  const changes = yield* Effect.forEach(set, settingOf)
  const decisions = Replay.whatIf(log, (before) => changes.reduce((after, { change }) => change(after), before))
  const settings = Object.fromEntries(changes.map(({ name, text }) => [name, text]))
  const changed = decisions.filter(({ logged, replayed }) => !Equal.equals(logged, replayed))
  yield* Reporter.print({ directory, settings, decisions }, (columns) => [
    ...Text.wrap(fixed, columns),
    "",
    ...Text.wrap(`Settings: ${set.join(" ")}`, columns),
    ...Text.wrap(`${changed.length} of ${decisions.length} decisions differ.`, columns),
    ...(changed.length === 0
      ? []
      : [
          "",
          ...Text.table([
            ["cohorts", "decision", "logged", "what if"],
            ...changed.map(({ after, kind, logged, replayed }) => [String(after), kind, ids(logged), ids(replayed)])
          ])
        ])
  ])
})

const ids = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : Text.clip(names.join(" "), 24))

const fixed =
  "Leases and rewards stay those of the log, and each decision is repeated by itself, as if all earlier ones were as logged."

interface Setting {
  readonly name: string
  readonly text: string
  readonly change: (settings: Settings.Settings) => Settings.Settings
}

const settingOf = Effect.fnUntraced(function* (given: string): Effect.fn.Return<Setting, UsageError> {
  const [, name = "", text = ""] = /^([^=]+)=(.+)$/u.exec(given) ?? []
  const number = decodeNumber(text)
  switch (name) {
    case "selection.risk":
      if (number !== null && number > 0 && number < 1)
        return {
          name,
          text,
          change: (settings) => ({ ...settings, selection: { ...settings.selection, risk: number } })
        }
      return yield* refused(given, "selection.risk=0.01, above 0 and below 1")
    case "population.parents":
      if (number !== null && Number.isInteger(number) && number > 0)
        return {
          name,
          text,
          change: (settings) => ({ ...settings, population: { ...settings.population, parents: number } })
        }
      return yield* refused(given, "population.parents=3, a whole number of at least 1")
    case "missingRewards":
      if (text === "worst" || text === "random")
        return { name, text, change: (settings) => ({ ...settings, missingRewards: text }) }
      if (number !== null) return { name, text, change: missing(number) }
      return yield* refused(given, "missingRewards=worst, missingRewards=random, or missingRewards=0.5, a reward")
    default:
      return yield* refused(
        given,
        "one of selection.risk, missingRewards, population.parents, which a log can answer for. Create another population to test other settings"
      )
  }
})

/** A missing reward is this one, on the scale of the population's rewards. */
const missing =
  (reward: number) =>
  (settings: Settings.Settings): Settings.Settings => {
    const [low, high] = settings.rewardRange
    return { ...settings, missingRewards: { value: Math.min(high, Math.max(low, reward)) } }
  }

const decodeNumber = (text: string): number | null => {
  const number = Number(text)
  return text.trim() !== "" && Schema.is(Schema.Finite)(number) ? number : null
}

const refused = (given: string, expected: string): UsageError => usageError(`--set is ${given}, expected ${expected}.`)
