/**
 * Times one step of the paper's batch without a model, 512 questions × 5 rollouts × 4 turns with advantages and training
 * data: on lists of tokens, with text, with text and 150,000 vocabulary entries, and over HTTP against `TinkerServer` in
 * another process. Each case runs in a process of its own; seconds are of its processor, which a busy machine does not
 * stretch as it does the clock. Ends with how the cost grows with the questions.
 *
 *     node tools/bench/rollout.ts [CASE …]
 *
 * The first line is JSON, a table follows. Exits with 1 when a limit is missed.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { Schema } from "effect"
import { print, shortRow } from "./Measure.ts"
import { type Case, cases, isCase, Measured, shape } from "./rollout/Shape.ts"

/** Processor seconds and, for some, peak megabytes. */
const limits: Readonly<Record<Case, { readonly seconds: number; readonly megabytes?: number }>> = {
  tokens: { seconds: 2, megabytes: 400 },
  text: { seconds: 6 },
  "text-150k": { seconds: 6 },
  "tokens-http": { seconds: 6 },
  "text-http": { seconds: 12 }
}
/** Cases whose growth is measured, and the numbers of questions. */
const growing: ReadonlySet<Case> = new Set(["tokens", "tokens-http"])
const sizes = [64, 128, 256, 1024, 2048]
/** The largest cost of a sample at 2048 questions, as a factor of its cost at 512. */
const mostGrowth = 1.5

const start = (script: string, args: ReadonlyArray<string>) =>
  fork(join(import.meta.dirname, "rollout", script), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] })

const next = async <S extends Schema.ConstraintDecoder<unknown>>(
  child: ChildProcess,
  schema: S
): Promise<S["Type"]> => {
  const [message]: ReadonlyArray<unknown> = await once(child, "message")
  return Schema.decodeUnknownSync(schema)(message)
}

const Ready = Schema.Struct({ url: Schema.String })
const Processor = Schema.Struct({ processor: Schema.Finite })

const processorOf = (server: ChildProcess) => {
  server.send("processor")
  return next(server, Processor)
}

const measure = async (name: Case, questions: number) => {
  const server = cases[name].remote ? start("server.ts", [name]) : null
  const url = server === null ? [] : [(await next(server, Ready)).url]
  const before = server === null ? 0 : (await processorOf(server)).processor
  const step = start("step.ts", [name, String(questions), ...url])
  const measured = await next(step, Measured)
  const after = server === null ? 0 : (await processorOf(server)).processor
  await once(step, "exit")
  server?.kill()
  const row = { case: name, questions, ...measured, serverProcessor: after - before }
  process.stderr.write(`${name} ${questions}: ${measured.processor.toFixed(2)} s\n`)
  return row
}

type Row = Awaited<ReturnType<typeof measure>>

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !isCase(name))
if (unknown.length > 0)
  throw new RangeError(`no case ${unknown.join(", ")}, expected some of ${Object.keys(cases).join(", ")}`)
const names = Object.keys(cases)
  .filter(isCase)
  .filter((name) => chosen.length === 0 || chosen.includes(name))

const rows: Array<Row> = []
for (const name of names) rows.push(await measure(name, shape.questions))
const growth: Array<Row> = []
for (const name of names.filter((name) => growing.has(name)))
  for (const questions of sizes) growth.push(await measure(name, questions))

const perSample = ({ processor, samples }: Row) => processor / samples
const met =
  rows.every((row) => {
    const { megabytes = Infinity, seconds } = limits[row.case]
    return row.processor <= seconds && row.peak <= megabytes
  }) &&
  growth.every((row) => {
    const usual = rows.find((one) => one.case === row.case)
    return row.questions < shape.questions || usual === undefined || perSample(row) <= mostGrowth * perSample(usual)
  })

const table = (part: ReadonlyArray<Row>) =>
  part.map((row) =>
    [
      row.case.padEnd(12),
      `${row.questions} questions`.padEnd(15),
      `${row.processor.toFixed(2)} s of processor (${row.wall.toFixed(2)} s)`.padEnd(34),
      `${row.peak.toFixed(0)} MB`.padEnd(8),
      `${(1e6 * perSample(row)).toFixed(0)} µs a sample`,
      ...(row.serverProcessor > 0
        ? [` server ${row.serverProcessor.toFixed(2)} s, sending the gradients ${row.gradientProcessor.toFixed(2)} s`]
        : [])
    ].join(" ")
  )
print(
  { bench: "rollout", met, shape, limits, steps: rows.map(shortRow), growth: growth.map(shortRow) },
  [...table(rows), ...table(growth)],
  met
)
