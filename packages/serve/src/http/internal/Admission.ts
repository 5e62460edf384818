/** Places for requests that wait for the upstream, limited by number and by bytes; one client takes at most half of either. */
import { Effect, type Scope } from "effect"

interface Held {
  readonly requests: number
  readonly bytes: number
}

export type Admission = ReturnType<typeof make>

export const make = (most: Held) => {
  let all: Held = { requests: 0, bytes: 0 }
  const clients = new Map<string, Held>()
  const change = (client: string, { bytes, requests }: Held) => {
    const plus = (held: Held): Held => ({ requests: held.requests + requests, bytes: held.bytes + bytes })
    all = plus(all)
    const own = plus(clients.get(client) ?? { requests: 0, bytes: 0 })
    if (own.requests === 0) clients.delete(client)
    else clients.set(client, own)
  }
  const fits = (held: Held, bytes: number, share: number) =>
    held.requests < most.requests * share && held.bytes + bytes <= most.bytes * share
  return {
    /** Takes a place until the scope closes; false if none is left, for this client or at all. */
    take: (client: string, bytes: number): Effect.Effect<boolean, never, Scope.Scope> =>
      Effect.suspend(() => {
        const own = clients.get(client) ?? { requests: 0, bytes: 0 }
        if (!fits(all, bytes, 1) || !fits(own, bytes, 0.5)) return Effect.succeed(false)
        change(client, { requests: 1, bytes })
        return Effect.as(
          Effect.addFinalizer(() => Effect.sync(() => change(client, { requests: -1, bytes: -bytes }))),
          true
        )
      })
  }
}
