import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { RandomStream } from "@inspo/domain"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../cli/FreePort.ts"
import { startOrResume, Tally, undisturbedRun } from "./support/Chain.ts"
import * as Kills from "./support/Kills.ts"
import { outcomeOf, type Outcome } from "./support/Outcome.ts"
import { type Ended, endAll, server } from "./support/Program.ts"

/** How often client, server or both are killed: `INSPO_HTTP_CRASHES`, and without it not at all. */
const crashes = Number(process.env["INSPO_HTTP_CRASHES"] ?? 0)
/** Kills that one run has to survive. */
const perRun = 3

/**
 * The settings of the runs, in turn. The loss of the protocol takes no KL term. Trajectories of `iter-research` have several segments: only
 * with equal shares do equal ones join on a server as they do in an engine.
 */
const kinds = [
  ["train.kl=advantages"],
  ["train.kl=advantages", "train.normalization=token-mean", "rollout.agent=iter-research"]
]

const victims = ["client", "server", "both"] as const

let cwd = ""
let undisturbed: ReadonlyArray<Outcome> = []

beforeAll(async () => {
  if (crashes === 0) return
  cwd = await mkdtemp(join(tmpdir(), "inspo-crash-http-"))
  const outcomes: Array<Outcome> = []
  for (const [index, settings] of kinds.entries())
    outcomes.push(await undisturbedRun(cwd, `undisturbed-${index}`, ...settings))
  undisturbed = outcomes
}, 240_000)

afterAll(async () => {
  endAll()
  if (crashes > 0) await rm(cwd, { recursive: true, force: true })
})

const draw = (seed: number, run: number, attempt: number) => {
  const integer = (name: string, below: number) =>
    RandomStream.make(seed, ["http", run, attempt, name]).nextIntBetween(0, below)
  return { victim: victims[integer("victim", victims.length)] ?? "both", after: 600 + integer("after", 3000) }
}

/** How many updates each checkpoint that a server keeps has behind it, by the name of the checkpoint. */
const updatesOf = async (checkpoints: string): Promise<ReadonlyMap<string, number>> => {
  const catalog: Readonly<Record<string, { readonly uri: string }>> = JSON.parse(
    await readFile(join(checkpoints, "catalog.json"), "utf8")
  )
  const updates = new Map<string, number>()
  for (const [path, { uri }] of Object.entries(catalog)) {
    const bytes = await readFile(join(checkpoints, uri))
    const header = bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString()
    const { updates: made } = JSON.parse(header).__metadata__
    updates.set(path, Number(made ?? 0))
  }
  return updates
}

describe.skipIf(crashes === 0)(
  "a run over HTTP whose client, server or both are killed at any moment, INSPO_HTTP_CRASHES times",
  () => {
    it("ends as if they had not been, and counts every update once", { timeout: 900_000 }, async () => {
      const seed = Kills.seedOfThisRun()
      const tally = new Tally()
      let killed = 0
      for (let run = 0; killed < crashes; run++) {
        const name = `killed-${run}`
        const kind = run % kinds.length
        const port = await freePort()
        const folder = `${name}-server`
        const serve = () => server(["engine", "serve", "--port", String(port), "--checkpoints", folder], cwd)
        let running = await serve()
        let left = Math.min(perRun, crashes - killed)
        for (let attempt = 0; ; attempt++) {
          const { after, victim } = draw(seed, run, attempt)
          const told = `seed ${seed}, run ${run}, attempt ${attempt}, ${victim} after ${after} ms`
          const ending: Promise<Ended> = startOrResume(cwd, name, {
            settings: [...(kinds[kind] ?? []), `engine.url=${running.address}`],
            kill: left > 0 && victim !== "server" ? { after } : undefined
          })
          if (left > 0 && victim !== "client") {
            await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, after))])
            await running.kill()
            running = await serve()
          }
          const ended = await ending
          if (left === 0 || (!ended.killed && victim === "client")) {
            assert.strictEqual(ended.code, 0, `${told}: ${ended.stderr}`)
            break
          }
          if (!ended.killed && ended.code !== 0)
            assert.match(ended.stderr, /inspo: (?:(?:rollout: )?engine |engine\.url: )/u, told)
          killed += 1
          left -= 1
          tally.add(victim)
        }
        await running.kill()
        const outcome = await outcomeOf(join(cwd, name))
        assert.deepStrictEqual(
          { ...outcome, events: outcome.events.slice(1) },
          { ...undisturbed[kind], events: undisturbed[kind]?.events.slice(1) },
          `seed ${seed}, run ${run}`
        )
        // The server's own count: as many updates lie behind a checkpoint as steps, however often they were sent.
        for (const [path, updates] of await updatesOf(join(cwd, folder))) {
          const [, step] = /step-(\d+)/u.exec(path) ?? []
          if (step !== undefined) assert.strictEqual(updates, Number(step), path)
        }
      }
      process.stdout.write(`${killed} kills: ${tally.toString()}\n`)
    })
  }
)
