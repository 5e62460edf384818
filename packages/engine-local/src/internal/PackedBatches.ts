import { Array as Arr, Order } from "effect"
import type { Datum, Sequence } from "@inspo/engine"
import { packedInputs, packedValues } from "../model/PackedBatch.ts"
import type { PackedShape } from "../model/PackedGraph.ts"
import { bucket, powerOfTwo } from "./Buckets.ts"
import type { CostedBatch } from "./Gradient.ts"
import type { Programs } from "./Programs.ts"
import type { Values } from "./Protocol.ts"

/** Sequences, by index, that run together: `groups[g]` share one prompt. */
export interface PackedPlan {
  readonly shape: PackedShape
  readonly groups: ReadonlyArray<ReadonlyArray<number>>
}

/**
 * Packs sequences that share a prompt, at most {@link completions} at a time, into runs of about {@link rowsPerRun}
 * rows. Neighbours have responses of similar length, and shapes are rounded up to few sizes, so that little is padding
 * and few programs are needed. Sequences without a response are left out. The plan depends on
 * the sequences alone.
 */
export const plan = (sequences: ReadonlyArray<Sequence>): ReadonlyArray<PackedPlan> => {
  const byPrompt = new Map<string, Array<number>>()
  sequences.forEach(({ prompt, response }, index) => {
    if (response.length === 0) return
    const key = prompt.join()
    const group = byPrompt.get(key)
    if (group === undefined) byPrompt.set(key, [index])
    else group.push(index)
  })
  const lengthOf = (index: number) => sequences[index]?.response.length ?? 0
  const parts = Arr.fromIterable(byPrompt.values()).flatMap((group) =>
    Arr.chunksOf(Arr.sort(group, Order.mapInput(Order.Number, lengthOf)), completions).map((members) => ({
      members,
      prompt: bucket((sequences[members[0]]?.prompt.length ?? 1) - 1),
      response: bucket(Math.max(...members.map(lengthOf)))
    }))
  )
  const similar = Arr.sort(
    parts,
    Order.combine(
      Order.mapInput(Order.Number, (part: Part) => part.response),
      Order.mapInput(Order.Number, (part: Part) => part.prompt)
    )
  )
  const plans: Array<PackedPlan> = []
  for (let at = 0; at < similar.length;) {
    const first = similar[at]
    if (first === undefined) break
    const { response } = first
    const members = new Array<Part>()
    let prompt = first.prompt
    // Sorted by response, then by prompt: the next part has the longest prompt so far.
    for (let next: Part | undefined = first; next?.response === response; next = similar[at]) {
      if (members.length > 0 && (members.length + 1) * (next.prompt + completions * response) > rowsPerRun) break
      prompt = next.prompt
      members.push(next)
      at++
    }
    const room = Math.max(1, Math.floor(rowsPerRun / (prompt + completions * response)))
    plans.push({
      shape: {
        groups: Math.min(room, powerOfTwo(members.length)),
        completions: members.every((part) => part.members.length === 1) ? 1 : completions,
        promptLength: prompt,
        responseLength: response
      },
      groups: members.map((part) => part.members)
    })
  }
  return plans
}

/** The numbers per response token that training takes beside the tokens. */
export interface PolicyGradientInputs {
  readonly clipRatio: number
  readonly klCoefficient: number
  readonly entropyCoefficient?: number
  /** Log-probabilities under the reference policy, parallel to the datums. */
  readonly reference: ReadonlyArray<ReadonlyArray<number>>
}

/** The runs of a policy-gradient step. */
export const trainingBatches = (
  programs: Programs,
  datums: ReadonlyArray<Datum>,
  loss: PolicyGradientInputs
): ReadonlyArray<CostedBatch> => {
  const { entropyCoefficient = 0 } = loss
  return plan(datums).map((packed) => {
    const rows = (pick: (datum: Datum, index: number) => ReadonlyArray<number>) =>
      packedValues(
        packed.shape,
        packed.groups.map((group) => group.flatMap((index) => (datums[index] ? [pick(datums[index], index)] : [])))
      )
    return {
      ...batch(programs, packed, datums, entropyCoefficient === 0 ? "grpo" : "grpo-entropy", {
        weights: rows((datum) => datum.weights),
        advantages: rows((datum) => datum.advantages),
        oldLogprobs: rows((datum) => datum.logprobs),
        referenceLogprobs: rows((_, index) => loss.reference[index] ?? []),
        clipLow: Float32Array.of(1 - loss.clipRatio),
        clipHigh: Float32Array.of(1 + loss.clipRatio),
        klCoefficient: Float32Array.of(loss.klCoefficient),
        ...(entropyCoefficient === 0 ? {} : { entropyCoefficient: Float32Array.of(entropyCoefficient) })
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
      receive(index, Array.from(logprobs.subarray(from, from + (sequences[index]?.response.length ?? 0))))
    })
  })
}

const batch = (
  programs: Programs,
  { shape, groups }: PackedPlan,
  sequences: ReadonlyArray<Sequence>,
  mode: "grpo" | "grpo-entropy" | "logprob",
  values: Readonly<Record<string, Values>>
): CostedBatch => ({
  program: programs.packed(shape, mode),
  inputs: {
    ...packedInputs(
      shape,
      groups.map((group) => ({
        prompt: sequences[group[0] ?? 0]?.prompt ?? [],
        responses: group.map((index) => sequences[index]?.response ?? [])
      }))
    ),
    ...values
  },
  cost: shape.groups * (shape.promptLength + shape.completions * shape.responseLength)
})

interface Part {
  readonly members: ReadonlyArray<number>
  /** Slots for the prompt and for the longest response. */
  readonly prompt: number
  readonly response: number
}

const completions = 5

/** Small enough for activations to stay in the cache, large enough for the matrix products. */
const rowsPerRun = 900
