/** What the server tells as it happens: the runs as they stand, and whether it can be heard at all. */
import { Schema } from "effect"
import { useSyncExternalStore } from "react"
import { Change } from "../src/Api.ts"
import type { RunView } from "../src/view/RunView.ts"
import { ask } from "./Client.ts"

export interface Live {
  readonly connected: boolean
  /** Null before the first answer. */
  readonly runs: ReadonlyArray<RunView> | null
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live)

/** Changes when a run has news. */
export const versionOf = ({ sequence, status, version }: RunView): string =>
  `${sequence} ${status} ${status === "finished" ? version : ""}`

let live: Live = { connected: true, runs: null }
const listeners = new Set<() => void>()

const publish = (changes: Partial<Live>) => {
  live = { ...live, ...changes }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Change))

const refresh = () =>
  ask((client) => client.runs()).then(
    (runs) => publish({ runs, connected: true }),
    () => publish({ connected: false })
  )

/** Milliseconds of silence after which the connection counts as lost; the server beats every 15 seconds. */
const quietAfter = 40_000

const connect = () => {
  const source = new EventSource("/api/changes")
  let watchdog = 0
  const reconnect = () => {
    source.close()
    window.clearTimeout(watchdog)
    publish({ connected: false })
    window.setTimeout(connect, 1500)
  }
  const heard = () => {
    window.clearTimeout(watchdog)
    watchdog = window.setTimeout(reconnect, quietAfter)
  }
  source.addEventListener("open", () => {
    heard()
    void refresh()
  })
  source.addEventListener("error", reconnect)
  source.addEventListener("message", ({ data }) => {
    heard()
    const change = decode(data)
    if (change._tag === "Runs") void refresh()
    if (change._tag === "Run") {
      const { run } = change
      publish({ runs: (live.runs ?? []).map((known) => (known.id === run.id ? run : known)) })
    }
  })
}

connect()
