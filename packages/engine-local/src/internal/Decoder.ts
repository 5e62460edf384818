import { draw } from "../Sampling.ts"
import * as Kernel from "./Kernel.ts"
import { KeyValueRows } from "./KeyValueRows.ts"
import { type Job, plan } from "./PrefixPlan.ts"
import type { DecodedSequence, DecodeProgram, DecodeRequest, SampleReply, SampleTask, WorkerData } from "./Protocol.ts"

/**
 * Samples by continuous batching within one worker: each row of the decoding program works on one job, takes one token
 * per step, and takes up the next job as soon as it is done.
 */
export const make = (data: WorkerData) => {
  const parameters = new Float32Array(data.policies.current)
  const cache = new KeyValueRows(data.cache, data.rows)
  const tokens = new BigInt64Array(data.rows)
  const previous = new BigInt64Array(data.rows)
  const positions = new BigInt64Array(data.rows)
  const fixed = {
    ...Object.fromEntries(
      data.layout.map(({ name, offset, size }) => [name, parameters.subarray(offset, offset + size)])
    ),
    queryScale: Float32Array.of(data.cache.headWidth ** -0.5)
  }
  const steps = new Map<string, Step>()

  const stepOf = async ({ program, rows }: DecodeProgram): Promise<Step> => {
    const known = steps.get(program.key)
    if (known !== undefined) return known
    const kernel = await Kernel.make(program)
    const inputs = {
      ...fixed,
      ...cache.inputs(rows),
      tokens: tokens.subarray(0, rows),
      previous: previous.subarray(0, rows),
      positions: positions.subarray(0, rows)
    }
    const perLayer = (name: string) =>
      Array.from({ length: data.cache.layers }, (_, layer) => kernel.output(`${name}${layer}`))
    const feeds = Kernel.feeds(program, inputs)
    const step = {
      run: () => kernel.run(feeds),
      probabilities: kernel.output("probs"),
      newKeys: perLayer("newKeys"),
      newValues: perLayer("newValues")
    }
    steps.set(program.key, step)
    return step
  }

  return async (task: SampleTask): Promise<SampleReply> => {
    const jobs = plan(task.requests)
    const children = Array.from(jobs, () => new Array<number>())
    jobs.forEach(({ parent }, index) => {
      if (parent !== null) children[parent]?.push(index)
    })
    const ready: Array<{ readonly index: number; readonly base: SharedArrayBuffer | null }> = []
    jobs.forEach((job, index) => {
      if (job.parent === null) ready.push({ index, base: task.requests[job.request]?.cached?.keyValues ?? null })
    })
    const reply = task.requests.map((): Array<DecodedSequence> => [])
    const active: Array<Row> = []
    let taken = 0

    /** Changes the number of positions per row; only what rows have taken is kept. */
    const fit = (context: number): void => {
      if (context === cache.context) return
      cache.resize(
        context,
        active.map(({ position }) => position)
      )
    }

    const begin = (row: number): void => {
      const next = ready[taken++]
      const job = next === undefined ? undefined : jobs[next.index]
      const request = job === undefined ? undefined : task.requests[job.request]
      if (next === undefined || job === undefined || request === undefined) return
      if (job.start >= cache.context) fit(programFor(task.programs, 1, job.start + 1).context)
      cache.load(row, next.base === null ? empty : new Float32Array(next.base), job.start)
      active[row] = {
        index: next.index,
        job,
        request,
        sequence: [...request.prompt],
        logprobs: [],
        position: job.start
      }
    }

    const end = (row: number, { index, job, request, sequence, logprobs, position }: Row, stopped: boolean): void => {
      const keyValues = new SharedArrayBuffer(4 * cache.savedSize(position))
      cache.save(row, position, new Float32Array(keyValues))
      if (job.sample === null) {
        for (const child of children[index] ?? []) ready.push({ index: child, base: keyValues })
      } else {
        const sampled = sequence.slice(request.prompt.length)
        const results = reply[job.request]
        if (results !== undefined) results[job.sample] = { tokens: sampled, logprobs, stopped, keyValues }
      }
      if (taken < ready.length) return begin(row)
      const last = active.pop()
      if (last !== undefined && row < active.length) {
        cache.move(active.length, row)
        active[row] = last
      }
    }

    for (;;) {
      while (active.length < data.rows && taken < ready.length) begin(active.length)
      if (active.length === 0) return reply
      const slots = 1 + active.reduce((most, { position }) => Math.max(most, position), 0)
      const program = programFor(task.programs, active.length, slots)
      fit(program.context)
      const { run, probabilities, newKeys, newValues } = await stepOf(program)
      active.forEach(({ sequence, position }, row) => {
        tokens[row] = BigInt(sequence[position] ?? 0)
        previous[row] = BigInt(sequence[position - 1] ?? 0)
        positions[row] = BigInt(position)
      })
      await run()
      const vocabulary = data.config.vocabulary
      // From the last row down, so that a row moved into a hole has been dealt with.
      for (let row = active.length - 1; row >= 0; row--) {
        const state = active[row]
        if (state === undefined) continue
        cache.append(row, state.position, newKeys, newValues)
        state.position += 1
        const { job, request, sequence, logprobs } = state
        if (job.sample === null) {
          if (state.position === job.end) end(row, state, false)
        } else if (state.position === sequence.length) {
          const distribution = probabilities.subarray(row * vocabulary, (row + 1) * vocabulary)
          const u = request.draws[job.sample * request.maxTokens + logprobs.length] ?? 0
          const token = draw(distribution, u, request)
          sequence.push(token)
          logprobs.push(Math.log(distribution[token] ?? 0))
          const stopped = request.stop.includes(token)
          if (stopped || logprobs.length === request.maxTokens) end(row, state, stopped)
        }
      }
    }
  }
}

/** A decoding program with the arrays that a run fills. */
interface Step {
  readonly run: () => Promise<void>
  readonly probabilities: Float32Array
  readonly newKeys: ReadonlyArray<Float32Array>
  readonly newValues: ReadonlyArray<Float32Array>
}

/** A row at work: `position` is that of the next token it takes out of `sequence`, the prompt and what was drawn. */
interface Row {
  readonly index: number
  readonly job: Job
  readonly request: DecodeRequest
  readonly sequence: Array<number>
  readonly logprobs: Array<number>
  position: number
}

const empty = new Float32Array(0)

/** The smallest context that holds `slots`, and among its programs the one with the fewest rows that hold `rows`. */
const programFor = (programs: ReadonlyArray<DecodeProgram>, rows: number, slots: number): DecodeProgram => {
  const program = programs.find((candidate) => candidate.context >= slots && candidate.rows >= rows)
  if (program === undefined) throw new RangeError(`no decoding program for ${rows} rows of ${slots} positions`)
  return program
}
