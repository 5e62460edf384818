/**
 * Takes what a run holds in memory while it goes on: one session of many of the smallest steps there are, with a real
 * journal, and a second session that resumes it. A run of any length has to take the same.
 *
 *     node tools/bench/memory.ts [STEPS] [scripted|embedded]
 *
 * The first line is JSON, a table follows. Exits with 1 when a limit is missed.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { type EngineName, type Sample, soak } from "./memory/Soak.ts"

const [words = "10000", name = "scripted"] = process.argv.slice(2)
const engines: ReadonlyArray<EngineName> = ["scripted", "embedded"]
const length = Number(words)
const engine = engines.find((known) => known === name)
if (!Number.isSafeInteger(length) || length < 10 || engine === undefined)
  throw new RangeError(`expected a number of steps from 10 on and one of ${engines.join(", ")}; got ${words} ${name}`)

/** Bytes that a step may add, those that may come and go, and those of the code that resuming takes. */
const limits = {
  heap: { step: 128, noise: 2 ** 18 },
  resident: { step: 1024, noise: 2 ** 25 },
  resumed: 2 ** 20
} as const

/** Bytes per step, by least squares. */
const slope = (samples: ReadonlyArray<Sample>, of: "heap" | "resident"): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const step = mean(samples.map((sample) => sample.step))
  const bytes = mean(samples.map((sample) => sample[of]))
  return (
    samples.reduce((sum, sample) => sum + (sample.step - step) * (sample[of] - bytes), 0) /
    samples.reduce((sum, sample) => sum + (sample.step - step) ** 2, 0)
  )
}

const { resumed, samples } = await soak(length, engine).pipe(Effect.provide(NodeServices.layer), Effect.runPromise)
// Until then code is compiled, and caches fill.
const settled = samples.slice(3)
const [first, last] = [settled[0], settled.at(-1)]
if (first === undefined || last === undefined || resumed === undefined) throw new Error("the run ended before its time")
const bytesPerStep = { heap: slope(settled, "heap"), resident: slope(settled, "resident") }
const steps = last.step - first.step
const met =
  (["heap", "resident"] as const).every((of) => (bytesPerStep[of] - limits[of].step) * steps <= limits[of].noise) &&
  // Resuming reads all events, for which the process takes memory that it need not give back.
  resumed.heap - last.heap <= limits.resumed

const line = (label: string, { heap, resident, step }: Sample) =>
  `${label}${step}  heap ${(heap / 2 ** 20).toFixed(2)} MB  resident ${(resident / 2 ** 20).toFixed(1)} MB`
process.stdout.write(
  [
    JSON.stringify({ bench: "memory", met, engine, limits, bytesPerStep, samples, resumed }),
    ...samples.map((sample) => line("step ", sample)),
    line("resumed, step ", resumed),
    `grows by ${bytesPerStep.heap.toFixed(0)} bytes of heap and ${bytesPerStep.resident.toFixed(0)} bytes resident a step`,
    ""
  ].join("\n")
)
if (!met) process.exitCode = 1
