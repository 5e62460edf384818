import { Array as Arr, Order } from "effect"
import type { Datum, Sequence, TrainRequest } from "@inspo/engine"
import type { PackedShape } from "../model/PackedGraph.ts"
import { element } from "./Values.ts"
import type { CostedBatch } from "./WorkerPool.ts"
import type { Programs } from "./Programs.ts"
import type { Values } from "./Protocol.ts"
import type { SequenceInputs } from "./SequenceBatches.ts"
import { maskedScore } from "../graph/Attention.ts"

/** Sequences, by index, that run together: `groups[g]` share one prompt. */
interface PackedPlan {
  readonly shape: PackedShape
  readonly groups: ReadonlyArray<ReadonlyArray<number>>
}

/**
 * Packs sequences that share a prompt into runs of at most {@link rowsPerRun} rows, unless one sequence alone has more.
 * Completions of unlike lengths go apart where that saves more rows than computing the prompt again costs; prompts of
 * like shapes go together. Sequences without a response are left out. The plan depends on the sequences alone.
 */
export const plan = (sequences: ReadonlyArray<Sequence>): ReadonlyArray<PackedPlan> => {
  const withResponse = sequences.flatMap(({ response }, index) => (response.length > 0 ? [index] : []))
  const byPrompt = Map.groupBy(withResponse, (index) => element(sequences, index, "sequence").prompt.join())
  const parts = Arr.fromIterable(byPrompt.values()).flatMap((group) => cut(group, sequences))
  const plans: Array<{ shape: PackedShape; readonly groups: Array<ReadonlyArray<number>> }> = []
  for (const { members, shape } of Arr.sort(parts, similarity)) {
    const last = plans.at(-1)
    const joined = last === undefined ? shape : join(last.shape, shape)
    const added = last === undefined ? Infinity : rowsOf(joined) - rowsOf(last.shape) - rowsOf(shape)
    if (last !== undefined && rowsOf(joined) <= rowsPerRun && added <= rowsOfARun) {
      last.shape = joined
      last.groups.push(members)
    } else {
      plans.push({ shape, groups: [members] })
    }
  }
  return plans
}

/** A datum that replaces equal ones: `counts` holds how many action tokens each of its tokens replaces. */
interface CountedDatum extends Datum {
  readonly counts: ReadonlyArray<number>
}

/** Joins equal datums, which a policy of low entropy samples often, into one with their weights together, which leaves the loss. */
export const joinEqual = (datums: ReadonlyArray<Datum>): ReadonlyArray<CountedDatum> => {
  const joined = Map.groupBy(datums, ({ prompt, response, advantages, logprobs }) =>
    [prompt, response, advantages, logprobs].map((values) => values.join()).join(";")
  )
  return Array.from(joined.values()).flatMap((equal) => {
    const [first] = equal
    if (first === undefined) return []
    const sum = (pick: (weight: number) => number) =>
      first.weights.map((_, at) =>
        equal.reduce((total, { weights }) => total + pick(element(weights, at, "weight of token")), 0)
      )
    return [{ ...first, weights: sum((weight) => weight), counts: sum((weight) => (weight === 0 ? 0 : 1)) }]
  })
}

/** The numbers per response token that training takes beside the tokens. */
type PolicyGradientInputs = TrainRequest["loss"] & {
  /** Log-probabilities under the reference policy, parallel to the datums. */
  readonly reference: ReadonlyArray<ReadonlyArray<number>>
}

/** The runs of a policy-gradient step. */
export const trainingBatches = (
  programs: Programs,
  datums: ReadonlyArray<CountedDatum>,
  loss: PolicyGradientInputs
): ReadonlyArray<CostedBatch> => {
  return plan(datums).map((packed) => {
    const rows = (pick: (datum: CountedDatum, index: number) => ReadonlyArray<number>) =>
      packedValues(
        packed.shape,
        packed.groups.map((group) => group.flatMap((index) => (datums[index] ? [pick(datums[index], index)] : [])))
      )
    return {
      ...batch(programs, packed, datums, "grpo", {
        weights: rows((datum) => datum.weights),
        counts: rows((datum) => datum.counts),
        advantages: rows((datum) => datum.advantages),
        oldLogprobs: rows((datum) => datum.logprobs),
        referenceLogprobs: rows((_, index) => loss.reference[index] ?? []),
        clipLow: Float32Array.of(1 - loss.clipRatio),
        clipHigh: Float32Array.of(1 + (loss.clipHigh ?? loss.clipRatio)),
        klCoefficient: Float32Array.of(loss.klCoefficient)
      })
    }
  })
}

/** The runs that give log-probabilities, each with the plan that says whose they are. */
export const scoringBatches = (
  programs: Programs,
  sequences: ReadonlyArray<Sequence>
): ReadonlyArray<{ readonly plan: PackedPlan; readonly batch: CostedBatch }> =>
  plan(sequences).map((packed) => ({ plan: packed, batch: batch(programs, packed, sequences, "logprob", {}) }))

/** Hands the `logprobs` output of a run to the sequences it belongs to. */
export const unpackLogprobs = (
  { shape, groups }: PackedPlan,
  logprobs: Float32Array,
  sequences: ReadonlyArray<Sequence>,
  receive: (index: number, logprobs: ReadonlyArray<number>) => void
): void => {
  groups.forEach((group, at) => {
    group.forEach((index, completion) => {
      const from = (at * shape.completions + completion) * shape.responseLength
      receive(index, Array.from(logprobs.subarray(from, from + element(sequences, index, "sequence").response.length)))
    })
  })
}

const batch = (
  programs: Programs,
  { shape, groups }: PackedPlan,
  sequences: ReadonlyArray<Sequence>,
  mode: "grpo" | "logprob",
  values: Readonly<Record<string, Values>>
): CostedBatch => ({
  program: programs.packed(shape, mode),
  inputs: {
    ...packedInputs(
      shape,
      groups.map((group) => ({
        prompt: element(sequences, element(group, 0, "completion"), "sequence").prompt,
        responses: group.map((index) => element(sequences, index, "sequence").response)
      }))
    ),
    ...values
  },
  cost: rowsOf(shape)
})

/** Completions of one prompt, and the shape that holds them. */
interface Part {
  readonly members: ReadonlyArray<number>
  readonly shape: PackedShape
}

/** Cuts sequences of one prompt, by length, into the parts that take fewest rows together. */
const cut = (group: ReadonlyArray<number>, sequences: ReadonlyArray<Sequence>): ReadonlyArray<Part> => {
  const lengthOf = (index: number) => element(sequences, index, "sequence").response.length
  const byLength = Arr.sort(group, Order.mapInput(Order.Number, lengthOf))
  const promptLength = slots(element(sequences, element(group, 0, "completion"), "sequence").prompt.length - 1)
  // best[n] are the parts of the n shortest.
  const best: Array<{ readonly rows: number; readonly parts: ReadonlyArray<Part> }> = [{ rows: 0, parts: [] }]
  byLength.forEach((longest, index) => {
    const options = best.flatMap(({ rows, parts }, start) => {
      const members = byLength.slice(start, index + 1)
      const responseLength = slots(lengthOf(longest))
      const shape = { groups: 1, completions: members.length, promptLength, responseLength }
      if (members.length > 1 && rowsOf(shape) > rowsPerRun) return []
      return [{ rows: rows + rowsOf(shape), parts: [...parts, { members, shape }] }]
    })
    best.push(options.reduce((least, option) => (option.rows < least.rows ? option : least)))
  })
  return best.at(-1)?.parts ?? []
}

/** What holds the groups of both shapes. */
const join = (a: PackedShape, b: PackedShape): PackedShape => ({
  groups: a.groups + b.groups,
  completions: Math.max(a.completions, b.completions),
  promptLength: Math.max(a.promptLength, b.promptLength),
  responseLength: Math.max(a.responseLength, b.responseLength)
})

const rowsOf = ({ groups, completions, promptLength, responseLength }: PackedShape): number =>
  groups * (promptLength + completions * responseLength)

const similarity = Order.combineAll(
  [
    ({ shape }: Part) => shape.responseLength,
    ({ shape }: Part) => shape.completions,
    ({ shape }: Part) => shape.promptLength
  ].map((measure) => Order.mapInput(Order.Number, measure))
)

/** Lengths are rounded up a little, so that fewer shapes occur: each takes time to build. */
const slots = (length: number): number => 4 * Math.max(1, Math.ceil(length / 4))

/** Small enough for activations to stay in the cache, large enough for the matrix products. */
const rowsPerRun = 900

/** What a run costs beside its rows, in rows. */
const rowsOfARun = 64

/** A prompt of at least one token and the responses sampled from it. */
export interface PackedGroup {
  readonly prompt: ReadonlyArray<number>
  readonly responses: ReadonlyArray<ReadonlyArray<number>>
}

/** The inputs of `packedGraph` that follow from the tokens. */
interface PackedInputs extends SequenceInputs {
  readonly promptBias: Float32Array<ArrayBuffer>
}

/**
 * Lays groups out as `packedGraph` takes them. There may be fewer groups, completions or tokens than the shape has room
 * for; the rest is padding, and its rows must have weight 0. More than that is a `RangeError`.
 */
export const packedInputs = (shape: PackedShape, groups: ReadonlyArray<PackedGroup>): PackedInputs => {
  const { completions, promptLength, responseLength } = shape
  const promptRows = shape.groups * promptLength
  const responseRows = shape.groups * completions * responseLength
  const inputs: PackedInputs = {
    tokens: new BigInt64Array(promptRows + responseRows),
    previous: new BigInt64Array(promptRows + responseRows),
    positions: new BigInt64Array(promptRows + responseRows),
    targets: new BigInt64Array(responseRows),
    promptBias: new Float32Array(promptRows).fill(maskedScore)
  }
  const write = (row: number, sequence: ReadonlyArray<number>, position: number): void => {
    inputs.tokens[row] = BigInt(sequence[position] ?? 0)
    inputs.previous[row] = BigInt(sequence[position - 1] ?? 0)
    inputs.positions[row] = BigInt(position)
  }
  checkFits("groups", groups.length, shape.groups)
  for (const [group, { prompt, responses }] of groups.entries()) {
    const known = prompt.length - 1
    checkFits("prompt tokens", known, promptLength)
    checkFits("completions", responses.length, completions)
    for (let slot = 0; slot < known; slot++) {
      write(group * promptLength + slot, prompt, slot)
      inputs.promptBias[group * promptLength + slot] = 0
    }
    for (const [completion, response] of responses.entries()) {
      checkFits("response tokens", response.length, responseLength)
      const first = (group * completions + completion) * responseLength
      const sequence = [...prompt, ...response]
      for (const [slot, target] of response.entries()) {
        write(promptRows + first + slot, sequence, known + slot)
        inputs.targets[first + slot] = BigInt(target)
      }
    }
  }
  return inputs
}

/**
 * One number per response token laid out as the rows of `packedGraph` that predict them, 0 on padding: `weights`,
 * `counts`, `advantages` and the log-probabilities. `values[group][completion]` is parallel to the response.
 */
export const packedValues = (
  shape: PackedShape,
  values: ReadonlyArray<ReadonlyArray<ReadonlyArray<number>>>
): Float32Array<ArrayBuffer> => {
  const { completions, responseLength } = shape
  const rows = new Float32Array(shape.groups * completions * responseLength)
  for (const [group, ofGroup] of values.entries()) {
    for (const [completion, ofResponse] of ofGroup.entries()) {
      rows.set(ofResponse, (group * completions + completion) * responseLength)
    }
  }
  return rows
}

const checkFits = (what: string, count: number, room: number): void => {
  if (count > room) throw new RangeError(`${count} ${what} do not fit into a packed shape with room for ${room}`)
}
