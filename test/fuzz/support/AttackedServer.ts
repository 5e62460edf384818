import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { inspoServer } from "../../cli/Inspo.ts"
import { attacks, type Outcome, upstream, withstand } from "./Attacks.ts"

/** Megabytes that an attacked server may hold. */
const room = 1500

/** Each attack for its share of so many milliseconds, on a server that is started anew between them. */
export const attackAll = async (
  cwd: string,
  milliseconds: number,
  told: (outcome: Outcome) => void
): Promise<boolean> => {
  const model = await upstream()
  let sound = true
  try {
    for (const [index, attack] of attacks.entries()) {
      const args = ["serve", "--port", "0", "--json", "--upstream", model.url, "--out", join(cwd, `served-${index}`)]
      const first = await launch(args, cwd)
      await seed(first.port)
      const outcome = await withstand(attack, first.port, milliseconds / attacks.length)
      const faults = [...outcome.faults, ...first.ills()]
      await first.stop()
      // What the attack left in the journal must not stop the next start.
      const again = await launch(args, cwd).catch(() => null)
      if (again === null) faults.push("the server does not start again")
      await again?.stop()
      told({ ...outcome, faults })
      sound &&= faults.length === 0
    }
    return sound
  } finally {
    model.close()
  }
}

const seed = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/populations/support`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ seed: "Be brief.", profile: "online" })
  })
  if (!response.ok) throw new Error(await response.text())
}

const launch = async (args: ReadonlyArray<string>, cwd: string) => {
  const { child, ready } = await inspoServer(args, { cwd })
  child.stdout.resume()
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  return {
    port: Number(new URL(JSON.parse(ready).url).port),
    ills: (): ReadonlyArray<string> => {
      if (isOver()) return [`the server ended (${child.exitCode ?? child.signalCode})`]
      const [, kilobytes = "0"] = /VmHWM:\s+(\d+)/u.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? []
      const megabytes = Math.round(Number(kilobytes) / 1024)
      return megabytes > room ? [`the server took ${megabytes} MB, expected at most ${room}`] : []
    },
    stop: async () => {
      child.kill("SIGKILL")
      while (!isOver()) await sleep(20)
    }
  }
}
