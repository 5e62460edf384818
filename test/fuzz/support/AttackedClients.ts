/** Both clients against hostile servers, beside honest ones. */
import { Schema } from "effect"
import { ReferenceServer } from "../../clients/ReferenceServer.ts"
import { noPython, python, type Subject, typescript, warm } from "../../clients/Subject.ts"
import { honestFigures, type Outcome } from "./Attacks.ts"
import { answers, hostileServer } from "./HostileServer.ts"

/** The clients that can be run here. */
export const subjects = (): ReadonlyArray<Subject> => [
  typescript(),
  ...(noPython === null ? [python("sync"), python("asyncio")] : [])
]

/** Each client for its share of so many milliseconds, by turns with each hostile answer. */
export const attackClients = async (milliseconds: number, told: (outcome: Outcome) => void): Promise<boolean> => {
  const all = subjects()
  let sound = true
  for (const subject of all) {
    const outcome = await attacked(subject, milliseconds / all.length)
    await subject.end()
    told(outcome)
    sound &&= outcome.faults.length === 0
  }
  return sound
}

const Lease = Schema.Struct({ leased: Schema.Boolean })

/** A client leases where all servers are hostile, and where an honest one follows, of which it gets a lease in time. */
const attacked = async (subject: Subject, milliseconds: number): Promise<Outcome> => {
  const honest = new ReferenceServer()
  await honest.start()
  await warm(subject)
  const faults = new Set<string>()
  const latencies: Array<number> = []
  let [requests, failed] = [0, 0]
  const lease = async (urls: ReadonlyArray<string>, name: string) => {
    await subject.call({ call: "new", with: { urls, timeout, retryDelay: 1000 } })
    const asked = await subject.call({ call: "lease", as: "one", with: { fallback: "Be brief." } })
    const rewarded = await subject.call({ call: "reward", lease: "one", value: 1 })
    for (const { milliseconds, thrown } of [asked, rewarded]) {
      if (thrown !== null) faults.add(`${name}: a call threw ${thrown}`)
      if (milliseconds > timeout + slack) faults.add(`${name}: a call took ${Math.round(milliseconds)} ms`)
    }
    return { ...asked, leased: Schema.is(Lease)(asked.returned) && asked.returned.leased }
  }
  const end = performance.now() + milliseconds
  try {
    do
      for (const [name, answer] of Object.entries(answers)) {
        const hostile = await hostileServer(answer)
        requests++
        if ((await lease([hostile.url], name)).leased) faults.add(`${name}: it is taken for a lease`)
        const { leased, milliseconds } = await lease([hostile.url, honest.url], name)
        latencies.push(milliseconds)
        if (!leased) {
          failed++
          faults.add(`honest: no lease of the server after the one that answers ${name}`)
        }
        hostile.close()
      }
    while (performance.now() < end)
    const name = `hostile answers to the client (${subject.name})`
    return { name, requests, statuses: new Map(), failed, ...honestFigures(latencies, faults) }
  } finally {
    await honest.stop()
  }
}

/** In milliseconds: of a call, and what a busy machine may take besides. */
const [timeout, slack] = [1000, 400]
