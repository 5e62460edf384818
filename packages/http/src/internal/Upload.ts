/** Whether the body of a request arrives fast enough to be waited for. */
import { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Ends once less than {@link leastRate} of a body arrived for {@link stallSeconds}; never where all of it did. */
export const stalled = ({ source }: Pick<HttpServerRequest.HttpServerRequest, "source">): Effect.Effect<void> =>
  source instanceof IncomingMessage
    ? Effect.gen(function* () {
        let before = source.socket.bytesRead
        for (;;) {
          yield* Effect.sleep(`${stallSeconds} seconds`)
          if (source.complete) return yield* Effect.never
          const now = source.socket.bytesRead
          if (now - before < leastRate * stallSeconds) return
          before = now
        }
      })
    : Effect.never

/** Bytes per second: a modem of 1998. */
export const leastRate = 4096

/** How long a body may arrive more slowly. */
export const stallSeconds = 5
