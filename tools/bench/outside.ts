/**
 * Trains the same Search-R1 loop twice with each seed: as inspo's agent `search-r1`, and as the program of docs/how-to/train-your-agent.md.
 * Prints exact match on held-out questions after training with its 95 % interval over seeds, and processor time per rollout, the
 * program's included. Fails when the interval of the difference leaves zero out. Finished runs in DIR are not repeated.
 *
 *     node tools/bench/outside.ts DIR [SEEDS] [PRESET]
 *
 * Seeds 1 to 5 of `quick` unless others are given.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { text } from "node:stream/consumers"
import { Bootstrap } from "@inspo/statistics"
import { Schema } from "effect"
import { blocksOf } from "../../test/docs-examples/support/Documents.ts"
import { print, short } from "./Measure.ts"

const main = join(import.meta.dirname, "../../apps/cli/src/main.ts")
const [, , given = "outside", seeds = "5", preset = "quick"] = process.argv
const directory = resolve(given)
await mkdir(directory, { recursive: true })
const program = blocksOf("docs/how-to/train-your-agent.md").find(({ code }) => code.startsWith("# search_agent.py"))
await writeFile(join(directory, "search_agent.py"), program?.code ?? "")

const inspo = (...args: ReadonlyArray<string>) => ["inspo", process.execPath, main, ...args]

/** Runs a command line, and gives its output and the processor seconds of all its processes. */
const timed = async (args: ReadonlyArray<string>) => {
  const child = spawn("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$@" 2>/dev/null', ...args], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const [output, times] = await Promise.all([text(child.stdout), text(child.stderr)])
  const seconds = times.trim().split(/\s+/u).slice(-2).map(Number)
  return { output, seconds: seconds.reduce((sum, one) => sum + one, 0) }
}

const Summary = Schema.fromJsonString(
  Schema.Struct({
    rollouts: Schema.Struct({ train: Schema.Int, verification: Schema.Int, evaluation: Schema.Int }),
    evaluation: Schema.Array(
      Schema.Struct({ policy: Schema.String, instruction: Schema.String, n: Schema.Int, em: Schema.Finite })
    )
  })
)
const Measured = Schema.Struct({ em: Schema.Finite, n: Schema.Int, perRollout: Schema.Finite })
const decodeMeasured = Schema.decodeUnknownSync(Schema.fromJsonString(Measured))

/** Trains one arm with one seed, unless that was done before. */
const trained = async (arm: string, agent: string, seed: number) => {
  const file = join(directory, `${arm}-${seed}.json`)
  if (!existsSync(file)) {
    const out = join(directory, `${arm}-${seed}`)
    const flags = ["--preset", preset, "--seed", String(seed), "--no-baseline", "--quiet", "--json"]
    const command = existsSync(join(out, "config.json"))
      ? inspo("resume", out, "--quiet", "--json")
      : inspo("run", "--agent", agent, "--out", out, ...flags)
    const { output, seconds } = await timed(command)
    const { evaluation, rollouts } = Schema.decodeUnknownSync(Summary)(output)
    const last = evaluation.findLast(({ instruction, policy }) => policy === "after" && instruction === "best")
    const all = rollouts.train + rollouts.verification + rollouts.evaluation
    await writeFile(file, JSON.stringify({ em: last?.em, n: last?.n, perRollout: seconds / all }))
  }
  return decodeMeasured(await readFile(file, "utf8"))
}

const pairs: Array<Readonly<Record<"inside" | "outside", typeof Measured.Type>>> = []
for (let seed = 1; seed <= Number(seeds); seed++) {
  const world = join(directory, `world-${seed}`)
  if (!existsSync(world))
    await timed(inspo("data", "world", "--preset", preset, "--seed", String(seed), "--out", world))
  const retriever = spawn(process.execPath, [main, "retriever", "serve", join(world, "corpus.jsonl"), "--port", "0"])
  let said = ""
  for await (const chunk of retriever.stdout) {
    said += String(chunk)
    if (said.includes("http://")) break
  }
  const agent = `python3 search_agent.py ${/http:\/\/[\d.:]+/u.exec(said)?.[0] ?? ""}`
  const inside = await trained("inside", "search-r1", seed)
  const outside = await trained("outside", agent, seed)
  retriever.kill()
  process.stderr.write(`seed ${seed}: ${JSON.stringify({ inside, outside })}\n`)
  pairs.push({ inside, outside })
}

const mean = (of: (pair: (typeof pairs)[number]) => number): number => Bootstrap.meanOf(pairs.map(of)) ?? Number.NaN
const differences = pairs.map(({ inside, outside }) => outside.em - inside.em)
const { overall } = Bootstrap.bootstrap([differences], { resamples: 10_000, seed: 1 })
const [low, high] = overall ?? [0, 0]
const row = {
  inside: mean(({ inside }) => inside.em),
  outside: mean(({ outside }) => outside.em),
  insideMs: 1000 * mean(({ inside }) => inside.perRollout),
  outsideMs: 1000 * mean(({ outside }) => outside.perRollout)
}
const isEqual = low <= 0 && high >= 0
print(
  { bench: "outside", seeds: pairs.length, preset, ...row, low, high, isEqual },
  [
    `exact match after training, ${pairs.length} seeds of ${preset}: inside ${(100 * row.inside).toFixed(1)} %, outside ${(100 * row.outside).toFixed(1)} %`,
    `outside minus inside: ${(100 * (row.outside - row.inside)).toFixed(1)} points [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`,
    `processor time per rollout: inside ${short(row.insideMs)} ms, outside ${short(row.outsideMs)} ms`
  ],
  isEqual
)
