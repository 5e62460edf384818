/** The events of a population. */
import { Schema } from "effect"
import * as Limits from "./Limits.ts"

export const Event = Schema.Struct({
  sequence: Schema.Int,
  at: Schema.String.annotate({ description: "ISO 8601, in UTC" }),
  type: Schema.String,
  data: Schema.Json
}).annotate({ identifier: "Event" })
export interface Event extends Schema.Schema.Type<typeof Event> {}

/** Events in order; `after` of the next request is `last`, which a summary may leave out. */
export const Events = Schema.Struct({
  events: Schema.Array(Event).check(Schema.isMaxLength(Limits.eventsPerAnswer)),
  last: Schema.Int
}).annotate({ identifier: "Events" })
export interface Events extends Schema.Schema.Type<typeof Events> {}
