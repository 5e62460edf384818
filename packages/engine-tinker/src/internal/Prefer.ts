import { Duration } from "effect"
import type { Headers } from "effect/http"

/** Asks for the result itself in place of a future, where it is there soon (RFC 7240). A server that does not know it answers with the future. */
export const soon: Readonly<Record<string, string>> = { prefer: "wait=5" }

/** How long the result may be waited for before the answer is a future: not at all where that is not asked for. */
export const wait = (headers: Headers.Headers): Duration.Duration =>
  Duration.seconds(Number(/(?:^|[\s,])wait=(\d{1,3})(?:$|[\s,;])/iu.exec(headers["prefer"] ?? "")?.[1] ?? 0))
