/** The runs and searches as the server reports them, and whether the connection to it works. */
import { Schema } from "effect"
import { Change } from "../../src/Api.ts"
import type { RunView } from "../../src/view/RunView.ts"
import type { SearchRow } from "../../src/view/SearchRow.ts"
import { ask } from "./RunClient.ts"
import { makeStore } from "../Store.ts"

export interface LiveRuns {
  readonly connected: boolean
  /** Null before the first response. */
  readonly runs: ReadonlyArray<RunView> | null
  readonly searches: ReadonlyArray<SearchRow>
}

const store = makeStore<LiveRuns>({ connected: true, runs: null, searches: [] })

export const useLiveRuns = store.use

/** Changes with each new event of a run. */
export const versionOf = ({ sequence, status, version }: RunView): string =>
  `${sequence} ${status} ${status === "finished" ? version : ""}`

const publish = (changes: Partial<LiveRuns>) => store.set({ ...store.get(), ...changes })

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Change))

const refresh = () =>
  Promise.all([ask((client) => client.runs()), ask((client) => client.searches())]).then(([runs, searches]) =>
    publish({ runs, searches, connected: true })
  )

/** Milliseconds without a message after which the connection counts as lost; the server sends one at least every 15 seconds. */
const connectionTimeout = 40_000

/** Milliseconds that a connection may take to open: a server that is being stopped can accept one and never answer. */
const openingTimeout = 5000

const connect = () => {
  const source = new EventSource("/api/changes")
  let watchdog = 0
  let isLost = false
  const reconnect = () => {
    if (isLost) return
    isLost = true
    source.close()
    window.clearTimeout(watchdog)
    publish({ connected: false })
    window.setTimeout(connect, 1500)
  }
  const restartWatchdog = (timeout: number) => {
    window.clearTimeout(watchdog)
    watchdog = window.setTimeout(reconnect, timeout)
  }
  // A failed request is lost like the stream: nothing else would ask again before the next change.
  const update = () => void refresh().catch(reconnect)
  restartWatchdog(openingTimeout)
  source.addEventListener("open", () => {
    restartWatchdog(connectionTimeout)
    update()
  })
  source.addEventListener("error", reconnect)
  source.addEventListener("message", ({ data }) => {
    restartWatchdog(connectionTimeout)
    const change = decode(data)
    if (change._tag === "Runs" || change._tag === "Searches") update()
    if (change._tag === "Run") {
      const { run } = change
      publish({ runs: (store.get().runs ?? []).map((known) => (known.id === run.id ? run : known)) })
    }
  })
}

connect()
