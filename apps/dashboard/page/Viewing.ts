import type { Effect } from "effect"
import { useEffect, useRef, useState } from "react"

/** Asks a server one question; interrupted by the signal. */
export type Ask<Client> = <A, E>(question: (client: Client) => Effect.Effect<A, E>, signal?: AbortSignal) => Promise<A>

/** What a view shows: the last answer, and what went wrong with the next one. */
export interface Viewed<A> {
  readonly data: A | null
  readonly problem: string | null
}

/**
 * Hooks that ask by `ask`: one for one kind of view. It asks again whenever the arguments or the `version` change, at most once a second for the
 * same arguments; what was shown last for them stays until the answer is there.
 */
export const viewing =
  <Client>(ask: Ask<Client>) =>
  <Args, A, E>(question: (client: Client, args: Args) => Effect.Effect<A, E>) => {
    const memory = new Map<string, A>()
    const recall = (key: string): A | null => memory.get(key) ?? null
    const remember = (key: string, data: A) => {
      memory.delete(key)
      memory.set(key, data)
      const [oldest] = memory.keys()
      if (memory.size > capacity && oldest !== undefined) memory.delete(oldest)
    }

    return (args: Args, version: string): Viewed<A> => {
      const key = JSON.stringify(args)
      const [viewed, setViewed] = useState<Viewed<A> & { readonly key: string }>({
        key,
        data: recall(key),
        problem: null
      })
      const asked = useRef({ key: "", at: 0 })
      const latest = useRef(args)
      latest.current = args

      useEffect(() => {
        const abort = new AbortController()
        const wait = asked.current.key === key ? Math.max(0, asked.current.at + interval - performance.now()) : 0
        const load = async () => {
          asked.current = { key, at: performance.now() }
          const next = await ask((client) => question(client, latest.current), abort.signal).then(
            (data) => {
              remember(key, data)
              return { key, data, problem: null }
            },
            (error: unknown) => ({
              key,
              data: recall(key),
              problem: error instanceof Error ? error.message : String(error)
            })
          )
          if (!abort.signal.aborted) setViewed(next)
        }
        const timer = window.setTimeout(() => void load(), wait)
        return () => {
          window.clearTimeout(timer)
          abort.abort()
        }
      }, [key, version])

      return viewed.key === key ? viewed : { data: recall(key), problem: null }
    }
  }

/** Milliseconds between two questions for one view. */
const interval = 1000

/** Answers remembered of one kind of view. */
const capacity = 20
