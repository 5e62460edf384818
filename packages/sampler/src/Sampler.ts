/** Assigns an instruction to each question of a step. */
import { Array as Arr, Context, Layer, Order } from "effect"
import type { InstructionId } from "@inspo/domain/Instruction"
import { refuse } from "@inspo/domain/InvalidInput"
import type { Question } from "@inspo/domain/Question"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Identity } from "@inspo/domain/Strategy"
import type { Value } from "@inspo/population/Population"

/** How instructions are drawn. Pure: the same request gives the same assignment. */
export interface Strategy {
  readonly identity: Identity
  /** The probability of each instruction for a question if none is guaranteed a group, in the order of `values`. */
  readonly probabilities: (values: ReadonlyArray<Value>) => ReadonlyArray<number>
  /**
   * One instruction per question, in the order of the questions; empty without values. Throws `InvalidInput` on an
   * invalid request.
   */
  readonly assign: (request: Request) => ReadonlyArray<InstructionId>
}

/** The strategy by which a run assigns its questions. */
export class Sampler extends Context.Service<Sampler, Strategy>()("@inspo/sampler/Sampler") {}

/**
 * `values` are finite, one for each instruction; their order does not matter. `newcomers` are those that just
 * joined, which a strategy may guarantee a group in this step.
 */
export interface Request {
  readonly seed: number
  readonly step: number
  readonly values: ReadonlyArray<Value>
  readonly questions: ReadonlyArray<Pick<Question, "id" | "dataSource">>
  readonly newcomers: ReadonlyArray<InstructionId>
}

/**
 * softmax(w / τ) (Eq. 4), in the order of `values`. Shifted by the largest value, so that no value and no temperature
 * above 0 overflows. Throws `InvalidInput` on any other, and on a value that is not finite.
 *
 * @example
 * ```ts
 * import { Sampler } from "@inspo/sampler"
 *
 * Sampler.probabilities([0, 0.4], 0.2) // [0.119…, 0.880…]
 * ```
 */
export const probabilities = (values: ReadonlyArray<number>, temperature: number): ReadonlyArray<number> => {
  if (!(temperature > 0 && temperature < Infinity))
    refuse({ where: "Sampler", field: "temperature", value: temperature, expected: "a finite number above 0" })
  for (const [index, value] of values.entries())
    if (!Number.isFinite(value))
      refuse({ where: "Sampler", field: `values[${index}]`, value, expected: "a finite number" })
  const largest = values.reduce((a, b) => Math.max(a, b), -Infinity)
  const scores = values.map((value) => Math.exp((value - largest) / temperature))
  const total = scores.reduce((a, b) => a + b, 0)
  return scores.map((score) => score / total)
}

/** `temperature` is τ_s of Eq. 4, above 0. */
export interface Options {
  readonly temperature: number
}

/** How the questions of a step get their instructions. */
export interface Choices extends Options {
  /** An independent categorical draw per question, or systematic sampling within each data source. */
  readonly assignment: "independent" | "stratified"
  /** The instructions that are guaranteed a group: none, those that just joined, or all. */
  readonly newcomers: "drawn" | "guaranteed" | "everyone"
}

/**
 * Draws by Eq. 4, with the choices given.
 *
 * Stratified: within a data source the instructions are drawn by systematic sampling, so that each gets its expected
 * number of groups rounded down or up, and easy and hard sources affect all equally. The probability that a question
 * gets an instruction is still exactly Eq. 4.
 *
 * Guaranteed: an instruction without a group takes one question, drawn at random, from the instruction with the most to
 * spare; only then do probabilities differ from Eq. 4. With fewer questions than guaranteed instructions, as many as
 * possible get a group.
 */
export const make = ({ assignment, newcomers, temperature }: Choices): Strategy => ({
  identity: { name: assignment, parameters: { temperature, newcomers } },
  probabilities: (values) => softmax(values, temperature),
  assign: (request) => {
    assertKnown(request)
    const pick = quantile(request.values, temperature)
    const stream = RandomStream.make(request.seed, ["assignment", request.step])
    const draw = assignment === "independent" ? drawEach : drawBySource
    return serve(stream, draw(stream, request.questions, pick), guaranteed(newcomers, request))
  }
})

/** Provides {@link make}. */
export const layer = (choices: Choices): Layer.Layer<Sampler> => Layer.succeed(Sampler, make(choices))

/** An independent categorical draw per question, as in the paper; newcomers have no guarantee. */
export const independent = (options: Options): Strategy =>
  make({ ...options, assignment: "independent", newcomers: "drawn" })

/** Stratified by data source, and at least one group for every newcomer. */
export const stratified = (options: Options): Strategy =>
  make({ ...options, assignment: "stratified", newcomers: "guaranteed" })

const guaranteed = (served: Choices["newcomers"], { newcomers, values }: Request): ReadonlySet<InstructionId> => {
  switch (served) {
    case "drawn":
      return new Set()
    case "guaranteed":
      return new Set(newcomers)
    case "everyone":
      return new Set(values.map(({ id }) => id))
  }
}

const assertKnown = ({ newcomers, values }: Request): void => {
  const known = new Set(values.map(({ id }) => id))
  if (known.size < values.length)
    refuse({ where: "Sampler", field: "values", value: values, expected: "one for each instruction" })
  for (const id of newcomers)
    if (!known.has(id)) refuse({ where: "Sampler", field: "newcomers", value: id, expected: "the id of a value" })
}

const softmax = (values: ReadonlyArray<Value>, temperature: number): ReadonlyArray<number> =>
  probabilities(
    values.map(({ value }) => value),
    temperature
  )

/** Maps a point of [0, 1) to the instruction whose share of the interval contains it; to none without shares. */
type Quantile = (point: number) => ReadonlyArray<InstructionId>

const quantile = (inAnyOrder: ReadonlyArray<Value>, temperature: number): Quantile => {
  const values = inAnyOrder.toSorted(byId)
  const shares = softmax(values, temperature)
  const ends = Arr.scan(shares, 0, (end, share) => end + share).slice(1)
  // Rounding may leave the last end slightly below 1: the last instruction with a share takes the rest.
  const last = shares.findLastIndex((share) => share > 0)
  return (point) => {
    const index = ends.findIndex((end) => point < end)
    return values
      .slice(index === -1 ? last : index)
      .slice(0, 1)
      .map(({ id }) => id)
  }
}

const byId: Order.Order<Value> = Order.mapInput(Order.String, ({ id }) => id)

type Draw = (
  stream: RandomStream.RandomStream,
  questions: Request["questions"],
  pick: Quantile
) => ReadonlyArray<InstructionId>

const drawEach: Draw = (stream, questions, pick) => questions.flatMap(() => pick(stream.next()))

const drawBySource: Draw = (stream, questions, pick) => {
  const places = questions.map(({ dataSource }, index) => ({ dataSource, index }))
  const strata = Arr.groupBy(places, ({ dataSource }) => dataSource)
  const assignment = new Map<number, InstructionId>()
  for (const [, stratum] of Object.entries(strata).sort(bySource)) {
    const indices = stream.shuffle(stratum.map(({ index }) => index))
    const offset = stream.next()
    for (const [position, index] of indices.entries()) {
      for (const id of pick((position + offset) / indices.length)) assignment.set(index, id)
    }
  }
  return [...questions.keys()].flatMap((index) => assignment.get(index) ?? [])
}

const bySource: Order.Order<readonly [source: string, ...rest: ReadonlyArray<unknown>]> = Order.mapInput(
  Order.String,
  ([source]) => source
)

const serve = (
  stream: RandomStream.RandomStream,
  assignment: ReadonlyArray<InstructionId>,
  guaranteed: ReadonlySet<InstructionId>
): ReadonlyArray<InstructionId> => {
  const served = [...assignment]
  for (const id of guaranteed) {
    if (served.includes(id)) continue
    const donor = largestSpare(served, guaranteed)
    const questions = served.flatMap((holder, index) => (holder === donor ? [index] : []))
    if (!Arr.isArrayNonEmpty(questions)) break
    served[stream.choice(questions)] = id
  }
  return served
}

/** The instruction with the most groups beyond the one it is guaranteed; the smallest id among equals. */
const largestSpare = (
  assignment: ReadonlyArray<InstructionId>,
  guaranteed: ReadonlySet<InstructionId>
): InstructionId | undefined => {
  const spare = Object.values(Arr.groupBy(assignment, (id) => id))
    .map((groups) => ({ id: groups[0], count: groups.length - (guaranteed.has(groups[0]) ? 1 : 0) }))
    .filter(({ count }) => count > 0)
  return spare.sort(bySpare)[0]?.id
}

const bySpare: Order.Order<{ readonly id: InstructionId; readonly count: number }> = Order.combineAll([
  Order.flip(Order.mapInput(Order.Number, ({ count }) => count)),
  Order.mapInput(Order.String, ({ id }) => id)
])
