/** The log of a population: loaded once, then continued. */
import { Summary } from "@inspo/cohorts"
import { Effect, Option, Schema } from "effect"
import { append, empty, type PopulationLog } from "../../src/served/PopulationLog.ts"
import { type Client, makeQuery } from "./PopulationClient.ts"

/** The log of a population up to now. */
export const usePopulationLog = makeQuery((client, name: string) => load(client, name))

interface Loaded {
  readonly after: number
  readonly log: PopulationLog
}

const loaded = new Map<string, Loaded>()

const load = Effect.fnUntraced(function* (client: Client, name: string) {
  for (;;) {
    const before = loaded.get(name)
    const { events, last } = yield* client.populations.events({
      params: { name },
      query: { view: "summary", ...(before === undefined ? {} : { after: before.after }) }
    })
    const log = events.reduce((log, { at, data, type }) => {
      const event = decode(typeof data === "object" ? { ...data, _tag: type } : data)
      return Option.isNone(event) ? log : append(log, event.value, at)
    }, before?.log ?? empty)
    loaded.set(name, { after: last, log })
    if (last === before?.after) return log
  }
})

const decode = Schema.decodeUnknownOption(Summary.SummaryEvent)
