/**
 * Measures the memory of a run: one session of many of the smallest possible steps, with a real journal, and a second
 * session that resumes it. The memory must not depend on the length of the run.
 *
 *     node tools/bench/memory.ts [STEPS] [scripted|embedded]
 *
 * The first line is JSON, a table follows. Exits with 1 when a limit is missed.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { print, slope } from "./Measure.ts"
import { type EngineName, type Sample, soak } from "./memory/Soak.ts"

const [words = "10000", name = "scripted"] = process.argv.slice(2)
const engines: ReadonlyArray<EngineName> = ["scripted", "embedded"]
const length = Number(words)
const engine = engines.find((known) => known === name)
if (!Number.isSafeInteger(length) || length < 10 || engine === undefined)
  throw new RangeError(`expected a number of steps from 10 on and one of ${engines.join(", ")}; got ${words} ${name}`)

/** Bytes that a step may add, bytes of noise, and bytes that resuming may add. */
const limits = {
  heap: { step: 128, noise: 2 ** 18 },
  resident: { step: 1024, noise: 2 ** 25 },
  resumed: 2 ** 20
} as const

const { resumed, samples } = await soak(length, engine).pipe(Effect.provide(NodeServices.layer), Effect.runPromise)
// Before, code is compiled and caches fill.
const settled = samples.slice(3)
const [first, last] = [settled[0], settled.at(-1)]
if (first === undefined || last === undefined || resumed === undefined) throw new Error("the run ended too early")
const bytesPerStep = {
  heap: slope(settled.map(({ heap, step }) => [step, heap])),
  resident: slope(settled.map(({ resident, step }) => [step, resident]))
}
const steps = last.step - first.step
const met =
  (["heap", "resident"] as const).every((of) => (bytesPerStep[of] - limits[of].step) * steps <= limits[of].noise) &&
  // Resuming reads all events; the process may keep the memory that this takes.
  resumed.heap - last.heap <= limits.resumed

const line = (label: string, { heap, resident, step }: Sample) =>
  `${label}${step}  heap ${(heap / 2 ** 20).toFixed(2)} MB  resident ${(resident / 2 ** 20).toFixed(1)} MB`
print(
  { bench: "memory", met, engine, limits, bytesPerStep, samples, resumed },
  [
    ...samples.map((sample) => line("step ", sample)),
    line("resumed, step ", resumed),
    `grows by ${bytesPerStep.heap.toFixed(0)} bytes of heap and ${bytesPerStep.resident.toFixed(0)} bytes resident a step`
  ],
  met
)
