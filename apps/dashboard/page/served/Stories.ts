/** The log of a population as it is told here: read once, then followed. */
import { PopulationEvent } from "@inspo/cohorts/Event"
import { Effect, Option, Schema } from "effect"
import { none, type Stories, tell } from "../../src/served/Stories.ts"
import { type Client, makeView } from "./Client.ts"

/** What happened in a population so far. */
export const useStories = makeView((client, name: string) => follow(client, name))

interface Followed {
  readonly after: number
  readonly stories: Stories
}

const followed = new Map<string, Followed>()

const follow = Effect.fnUntraced(function* (client: Client, name: string) {
  for (;;) {
    const before = followed.get(name)
    const { events, last } = yield* client.populations.events({
      params: { name },
      query: before === undefined ? {} : { after: before.after }
    })
    const stories = events.reduce((stories, { at, data, type }) => {
      const event = decode(typeof data === "object" ? { ...data, _tag: type } : data)
      return Option.isNone(event) ? stories : tell(stories, event.value, at)
    }, before?.stories ?? none)
    followed.set(name, { after: last, stories })
    if (events.length === 0 || last === before?.after) return stories
  }
})

const decode = Schema.decodeUnknownOption(PopulationEvent)
