/** Assigns instructions to the questions of a step. Pure functions that load neither schemas nor services. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import * as InvalidInput from "@inspo/domain/InvalidInput"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Instruction, Strategy } from "@inspo/domain"
import type * as Choose from "./Choose.ts"
import * as Shares from "./Shares.ts"
import type { Value } from "./Shares.ts"

/** How instructions are drawn. Pure: the same request gives the same assignment. */
export interface Interface {
  readonly identity: Strategy.Identity
  /** The share of each instruction in all draws, in the order of `values`. */
  readonly probabilities: (values: ReadonlyArray<Value>) => ReadonlyArray<number>
  /**
   * The draws of each question, in the order of the questions, as many in total as asked for; none for a question that is
   * not asked, and none at all without values. Throws `InvalidInput` on an invalid request.
   */
  readonly assign: (request: Request) => ReadonlyArray<ReadonlyArray<Instruction.InstructionId>>
}

/** `values` are finite, one for each instruction; their order does not matter. Questions without a data source are of one. */
export interface Request {
  readonly seed: number
  readonly step: number
  readonly values: ReadonlyArray<Value>
  readonly questions: ReadonlyArray<{ readonly id: string; readonly dataSource?: string }>
}

/** What the shares follow: Eq. 4, or P(best). */
export type Rule = "softmax" | "thompson"

/** How the draws of a step are divided among its questions, as {@link make} defines. */
export type Sharing =
  | { readonly _tag: "Groups"; readonly instructionsPerQuestion: number }
  | { readonly _tag: "Samples"; readonly samples: number }

/** How the questions of a step get their instructions. */
export interface Choices {
  readonly rule: Rule
  /** τ_s of Eq. 4, above 0; only `softmax` uses it. */
  readonly temperature: number
  /** With one draw for each question: an independent draw, or systematic sampling within each data source. */
  readonly assignment: "independent" | "stratified"
  /** By default one draw for each question. */
  readonly sharing?: Sharing
}

/**
 * Draws by the shares of `rule`; by default Thompson shares, stratified. Throws `InvalidInput` on a temperature that softmax
 * cannot use, and on fewer than one instruction or sample for a question.
 *
 * With one draw for each question (the paper), `stratified` draws by systematic sampling within a data source, so that each
 * instruction gets its expected number of groups rounded down or up, and easy and hard sources affect all equally. The
 * probability that a question gets an instruction is its share.
 *
 * With `Groups`, a question is asked under several instructions, each at most once: as many as `instructionsPerQuestion`, fewer
 * where one instruction has so large a share that it is on every question. The total number of draws stays that of
 * questions; the last questions of the request are not asked. The probability that an asked question gets an instruction is
 * the instruction's share times {@link drawsPerQuestion}.
 *
 * With `Samples`, every question has that many draws, an instruction as often as its share says, rounded down or up.
 */
export const make = (choices: Partial<Choices> = {}): Interface => {
  const { assignment, rule, sharing, temperature } = { ...defaults, ...choices }
  // Refuses the temperature here rather than at the first draw.
  if (rule === "softmax") Shares.softmax([], temperature)
  if (sharing?._tag === "Samples") InvalidInput.assertCount("Sampler.make", "samples", sharing.samples, 1)
  if (sharing?._tag === "Groups")
    InvalidInput.assertCount("Sampler.make", "instructionsPerQuestion", sharing.instructionsPerQuestion, 1)
  const sharesOf = (values: ReadonlyArray<Value>): ReadonlyArray<number> =>
    rule === "thompson"
      ? Shares.thompson(values)
      : Shares.softmax(
          values.map(({ value }) => value),
          temperature
        )
  return {
    identity: {
      name: rule,
      parameters: { ...(rule === "softmax" ? { temperature } : {}), ...parametersOf(sharing, assignment) }
    },
    probabilities: sharesOf,
    assign: ({ questions, seed, step, values: inAnyOrder }) => {
      const values = inAnyOrder.toSorted(byId)
      if (new Set(values.map(({ id }) => id)).size < values.length)
        InvalidInput.refuse({ where: "Sampler", field: "values", value: values, expected: "one for each instruction" })
      const shares = Arr.zipWith(values, sharesOf(values), ({ id }, probability) => ({ id, probability }))
      return assign({ assignment, ...(sharing === undefined ? {} : { sharing }) }, { questions, seed, shares, step })
    }
  }
}

const defaults: Choices = { rule: "thompson", temperature: 0.2, assignment: "stratified" }

/** The draws of each question by given shares, which sum to 1: as {@link make} does by those of its rule. */
export const assign = (
  { assignment, sharing }: Pick<Choices, "assignment" | "sharing">,
  {
    questions,
    seed,
    shares: inAnyOrder,
    step
  }: Omit<Request, "values"> & { readonly shares: ReadonlyArray<Choose.Share> }
): ReadonlyArray<ReadonlyArray<Instruction.InstructionId>> => {
  const shares = inAnyOrder.toSorted(byId)
  if (shares.length === 0 || questions.length === 0) return questions.map(() => [])
  const stream = RandomStream.make(seed, ["assignment", step])
  if (sharing?._tag === "Samples") return questions.flatMap(() => systematic(stream, shares, 1, sharing.samples))
  if (sharing !== undefined && sharing.instructionsPerQuestion > 1)
    return asGroups(stream, shares, questions.length, sharing.instructionsPerQuestion)
  const draw = assignment === "independent" ? drawEach : drawBySource
  return draw(stream, questions, quantile(shares))
}

/**
 * Draws instructions for one question without replacement, as many as `instructionsPerQuestion`, or fewer where one has a large
 * share: each with the probability share × {@link expectedDraws}. The `path` of `seed` names the draw.
 */
export const distinct = ({
  instructionsPerQuestion,
  path,
  seed,
  shares
}: Choose.Request & { readonly instructionsPerQuestion: number }): ReadonlyArray<Choose.Share> => {
  const draws = expectedDraws(
    shares.map(({ probability }) => probability),
    instructionsPerQuestion
  )
  const [drawn = []] = systematic(RandomStream.make(seed, path), shares.toSorted(byId), 1, draws)
  return drawn.flatMap((id) =>
    shares.flatMap((share) => (share.id === id ? [{ id, probability: share.probability * draws }] : []))
  )
}

/** The expected draws of a question that is asked, with `Groups`. */
export const drawsPerQuestion = (
  shares: ReadonlyArray<number>,
  questions: number,
  instructionsPerQuestion: number
): number => questions / askedOf(shares, questions, instructionsPerQuestion)

/** How many instructions a question can have, so that none is expected on it more than once. */
export const expectedDraws = (shares: ReadonlyArray<number>, instructionsPerQuestion: number): number =>
  Math.min(instructionsPerQuestion, shares.length, 1 / Math.max(...shares))

const parametersOf = (
  sharing: Sharing | undefined,
  assignment: Choices["assignment"]
): Strategy.Identity["parameters"] => {
  if (sharing?._tag === "Samples") return { samplesPerQuestion: sharing.samples }
  const instructionsPerQuestion = sharing?.instructionsPerQuestion ?? 1
  return instructionsPerQuestion > 1 ? { instructionsPerQuestion } : { assignment }
}

/** How many of the questions are asked: so many that no instruction is expected on one more than once. */
const askedOf = (shares: ReadonlyArray<number>, questions: number, instructionsPerQuestion: number): number => {
  const draws = expectedDraws(shares, instructionsPerQuestion)
  return Math.min(questions, Math.ceil(questions / draws - 1e-9))
}

const asGroups = (
  stream: RandomStream.RandomStream,
  shares: ReadonlyArray<Choose.Share>,
  questions: number,
  instructionsPerQuestion: number
): ReadonlyArray<ReadonlyArray<Instruction.InstructionId>> => {
  const asked = askedOf(
    shares.map(({ probability }) => probability),
    questions,
    instructionsPerQuestion
  )
  const drawn = systematic(stream, shares, asked, questions)
  return Arr.makeBy(questions, (index) => drawn[index] ?? [])
}

/**
 * Systematic sampling of `total` draws along `questions` equal intervals that the instructions divide by their shares, in a
 * random order of their own in each: every point at distance 1 from the last is a draw.
 */
const systematic = (
  stream: RandomStream.RandomStream,
  shares: ReadonlyArray<Choose.Share>,
  questions: number,
  total: number
): ReadonlyArray<ReadonlyArray<Instruction.InstructionId>> => {
  const offset = stream.next()
  const startOf = (question: number) => (question === questions ? total : (question * total) / questions)
  const pointsBelow = (end: number) => Math.max(0, Math.ceil(end - offset))
  return Arr.makeBy(questions, (question) => {
    const order = stream.shuffle(shares)
    let end = startOf(question)
    let points = pointsBelow(end)
    const drawn: Array<Instruction.InstructionId> = []
    for (const [place, { id, probability }] of order.entries()) {
      end = place === order.length - 1 ? startOf(question + 1) : end + (probability * total) / questions
      for (const next = pointsBelow(end); points < next; points++) drawn.push(id)
    }
    return drawn
  })
}

/** Maps a point of [0, 1) to the instruction whose share of the interval contains it. */
type Quantile = (point: number) => ReadonlyArray<Instruction.InstructionId>

const quantile = (shares: ReadonlyArray<Choose.Share>): Quantile => {
  const ends = Arr.scan(shares, 0, (end, { probability }) => end + probability).slice(1)
  // Rounding may leave the last end slightly below 1: the last instruction with a share takes the rest.
  const last = shares.findLastIndex(({ probability }) => probability > 0)
  return (point) => {
    const index = ends.findIndex((end) => point < end)
    return shares
      .slice(index === -1 ? last : index)
      .slice(0, 1)
      .map(({ id }) => id)
  }
}

const byId: Order.Order<{ readonly id: Instruction.InstructionId }> = Order.mapInput(Order.String, ({ id }) => id)

type Draw = (
  stream: RandomStream.RandomStream,
  questions: Request["questions"],
  pick: Quantile
) => ReadonlyArray<ReadonlyArray<Instruction.InstructionId>>

const drawEach: Draw = (stream, questions, pick) => questions.map(() => pick(stream.next()))

const drawBySource: Draw = (stream, questions, pick) => {
  const places = questions.map(({ dataSource = "" }, index) => ({ dataSource, index }))
  const strata = Arr.groupBy(places, ({ dataSource }) => dataSource)
  const assignment = new Map<number, ReadonlyArray<Instruction.InstructionId>>()
  for (const [, stratum] of Object.entries(strata).sort(bySource)) {
    const indices = stream.shuffle(stratum.map(({ index }) => index))
    const offset = stream.next()
    for (const [position, index] of indices.entries()) assignment.set(index, pick((position + offset) / indices.length))
  }
  return [...questions.keys()].map((index) => assignment.get(index) ?? [])
}

const bySource: Order.Order<readonly [source: string, ...rest: ReadonlyArray<unknown>]> = Order.mapInput(
  Order.String,
  ([source]) => source
)
