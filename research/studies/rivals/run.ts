/** Runs other optimizers on the agents of `research evolve`, which shows their finished runs beside its own. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { Result } from "effect"
import { mean } from "simple-statistics"
import { budget } from "../src/Evolve.ts"
import * as Outcome from "../src/evolve/Outcome.ts"
import * as Protocol from "../src/evolve/Protocol.ts"
import { isRival, type Rival, rivals, tuningWorlds } from "../src/evolve/Rivals.ts"
import { available } from "../src/evolve/Trial.ts"
import { worlds } from "../src/evolve/World.ts"
import { parseSeeds } from "../src/Seeds.ts"

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const python = (program: string) => [here("../../../.cache/rivals/bin/python"), here(program)] as const

const commands: Readonly<Record<Rival, readonly [string, ...ReadonlyArray<string>]>> = {
  "inspo-equal": [process.execPath, here("with_evolve.mjs")],
  gepa: python("with_gepa.py"),
  "dspy-gepa": [...python("with_dspy.py"), "gepa"],
  "dspy-miprov2": [...python("with_dspy.py"), "miprov2"],
  "dspy-copro": [...python("with_dspy.py"), "copro"],
  ax: [process.execPath, here("with_ax.mjs")],
  promptfoo: [process.execPath, here("with_promptfoo.mjs")],
  "single-lineage": [process.execPath, here("with_lineage.mjs")]
}

const run = (rival: Rival, due: ReadonlyArray<Protocol.Due>): Promise<void> => {
  if (due.length === 0) return Promise.resolve()
  const answer = Protocol.serve(due)
  const [program, ...parameters] = commands[rival]
  const child = spawn(program, parameters, { stdio: ["pipe", "pipe", "inherit"] })
  const ended = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on("line", (line) => {
    try {
      child.stdin.write(`${JSON.stringify(answer(line))}\n`)
    } catch (cause) {
      child.kill()
      ended.reject(cause)
    }
  })
  child.on("error", ended.reject)
  child.on("exit", (code) => (code === 0 ? ended.resolve() : ended.reject(new Error(`${rival} ended with ${code}`))))
  return ended.promise
}

/** The runs of the comparison that are not finished. */
const compared = (rival: Rival, seeds: ReadonlyArray<number>, out: string): ReadonlyArray<Protocol.Due> =>
  seeds.flatMap((seed) =>
    worlds.flatMap((world): ReadonlyArray<Protocol.Due> => {
      const own = { ...budget, seed }
      const file = `${out}/${Outcome.fileOf(rival, world, seed)}`
      const key = Outcome.keyOfRival(rival, world, own)
      if (existsSync(file) && Outcome.read(readFileSync(file, "utf8"), key) !== null) return []
      const keep = (outcome: Outcome.Outcome) => {
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, Outcome.write(key, outcome))
        process.stdout.write(`${file}: ${(100 * outcome.gain).toFixed(1)} points, ${outcome.calls} calls\n`)
      }
      return [{ world, settings: rivals[rival].chosen, budget: own, keep }]
    })
  )

/** Prints the mean share of the available gain with each setting of a grid, on agents that no table reports. */
const tune = async (rival: Rival, seeds: ReadonlyArray<number>): Promise<void> => {
  for (const settings of rivals[rival].grid) {
    const shares: Array<number> = []
    const due = seeds.flatMap((seed) =>
      tuningWorlds.map((world) => ({
        world,
        settings,
        budget: { ...budget, seed },
        keep: ({ gain }: Outcome.Outcome) => void shares.push(gain / available(world))
      }))
    )
    await run(rival, due)
    process.stdout.write(
      `${rival} ${JSON.stringify(settings)}: ${(100 * mean(shares)).toFixed(1)} % of ${shares.length}\n`
    )
  }
}

const { values } = parseArgs({
  options: {
    optimizers: { type: "string", default: Object.keys(commands).join(",") },
    seeds: { type: "string", default: "2001-2010" },
    out: { type: "string", default: "runs/bench-evolve" },
    tune: { type: "boolean", default: false }
  }
})
const seeds = Result.getOrThrowWith(parseSeeds("--seeds", values.seeds), (problem) => new RangeError(problem))
for (const name of values.optimizers.split(",")) {
  if (!isRival(name))
    throw new RangeError(`--optimizers names ${name}, expected some of ${Object.keys(commands).join(", ")}.`)
  await (values.tune ? tune(name, seeds) : run(name, compared(name, seeds, values.out)))
}
