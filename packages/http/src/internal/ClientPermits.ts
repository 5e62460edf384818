/** Permits of which one client holds at most half, so that no client blocks all others. */
import { Effect, Semaphore } from "effect"

export interface ClientPermits {
  readonly withPermit: (client: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The number of permits must be even. */
export const make = (permits: number): ClientPermits => {
  const all = Semaphore.makeUnsafe(permits)
  const clients = new Map<string, { readonly own: Semaphore.Semaphore; users: number }>()
  const enter = (client: string) => {
    const one = clients.get(client) ?? { own: Semaphore.makeUnsafe(permits / 2), users: 0 }
    one.users++
    clients.set(client, one)
    return one
  }
  return {
    withPermit: (client) => (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => enter(client)),
        ({ own }) => own.withPermit(all.withPermit(effect)),
        (one) =>
          Effect.sync(() => {
            if (--one.users === 0) clients.delete(client)
          })
      )
  }
}
