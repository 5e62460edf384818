/** An instruction server with populations to look at. */
import { once } from "node:events"
import { join } from "node:path"
import { Inspo } from "@inspo/client"
import { Instruction } from "@inspo/domain"
import { LivePopulation, PopulationStore } from "@inspo/serve"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { inspoServer } from "../../cli/Inspo.ts"

export interface Served {
  readonly url: string
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Starts `inspo serve` over a directory; `flags` come last. */
export const serve = async (cwd: string, flags: ReadonlyArray<string> = [], port = 0): Promise<Served> => {
  const { child, ready } = await inspoServer(["serve", "--port", String(port), "--json", ...flags], { cwd })
  const { url } = JSON.parse(ready)
  return {
    url,
    port: Number(new URL(url).port),
    stop: async () => {
      const closed = once(child, "close")
      child.kill("SIGINT")
      await closed
    }
  }
}

/** The first instruction of a population and two others, of which one is better and one worse. */
export const seed = "You are the support agent of a small shop. Answer the customer."
export const better =
  "You are the support agent of a small shop. Ask which order it is about, then answer the customer."
export const worse = "You are the support agent of a small shop. Apologise twice, then answer the customer."

export const make = async (url: string, name: string, made: object): Promise<void> => {
  const response = await fetch(`${url}/v1/populations/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(made)
  })
  if (!response.ok) throw new Error(await response.text())
}

let conversed = 0

/** Conversations one after the other, each rewarded by what its instruction says; every so many keep silent. */
export const converse = async (url: string, name: string, conversations: number, silence = Infinity): Promise<void> => {
  await using inspo = new Inspo({ urls: [url], timeout: 10_000 })
  for (let from = 0; from < conversations; from += 50) {
    const requests = Array.from({ length: Math.min(50, conversations - from) }, () => ({
      // Which instruction one gets is drawn by its key.
      key: String(++conversed)
    }))
    const leases = await inspo.leases(name, requests)
    for (const [index, lease] of leases.entries()) {
      if (index % silence === silence - 1) continue
      const chance = lease.text.includes("which order") ? 0.8 : lease.text.includes("twice") ? 0.2 : 0.4
      // As often as it is likely, without luck.
      await lease.reward(((from + index) * 0.381_966) % 1 < chance ? 1 : 0)
    }
    await inspo.flush()
  }
}

/** Proposes instructions in a population that nobody serves: they wait for approval. */
export const propose = (directory: string, name: string, texts: ReadonlyArray<string>): Promise<void> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const store = yield* PopulationStore
      const live = yield* LivePopulation.open(yield* store.open(name))
      if ((yield* live.state).learning.evolution === null) yield* live.submit((now) => ({ _tag: "Evolve", now }))
      const [parent = Instruction.InstructionId.make("i0")] = (yield* live.state).learning.evolution?.parents ?? []
      const candidates = texts.map((text) => ({
        text,
        rationale: "Customers asked twice where their parcel was."
      }))
      yield* live.submit((now) => ({ _tag: "Propose", now, parent, candidates, reflected: [] }))
    }).pipe(
      Effect.scoped,
      Effect.provide(SqliteStore.layer(join(directory, "served", "populations"))),
      Effect.provide(NodeServices.layer)
    )
  )
