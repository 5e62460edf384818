/**
 * A world in which the expected reward of each instruction is known. The chance that instruction i succeeds on question q is
 * Φ((h_i + a b_q + c e_qi) / s) with standard normal b and e: a probit model, whose parameters follow from the asked shares of
 * the variance of a reward.
 */
import { Array as Arr } from "effect"
import { mean } from "simple-statistics"
import { Instruction, Invariant, Question, RandomStream } from "@inspo/domain"
import { bisect, density, draw, phi, quantile } from "./Normal.ts"

export interface Options {
  /** The expected reward of each instruction at first, above 0 and below 1. */
  readonly values: ReadonlyArray<number>
  /** The share of the variance of a reward that the question decides, for all instructions. */
  readonly question: number
  /** The share that the question decides for each instruction by itself. */
  readonly interaction: number
  /** What each step adds to all expected rewards; by default nothing. */
  readonly drift?: number
  /** So many cases are asked again and again, each once in an epoch; by default every question is new. */
  readonly cases?: number
  /** The probabilities that the reward of a failure and of a success is missing; by default 0. */
  readonly missing?: { readonly failure: number; readonly success: number }
}

export interface World extends Options {
  /** a, c and s of the probit model. */
  readonly latent: { readonly question: number; readonly interaction: number; readonly noise: number }
}

/** The world whose rewards have these values and shares of variance. */
export const make = (options: Options): World => ({ ...options, latent: latentOf(mean([...options.values]), options) })

/** The instruction at a place, counted from 0: the first is the seed. */
export const instruction = (place: number): Instruction.Instruction => ({
  id: Instruction.InstructionId.make(`i${place}`),
  text: `instruction ${place}`,
  generation: 0,
  parent: null,
  origin: place === 0 ? "seed" : "variant",
  bornAt: 0
})

/** The rewards of one instruction on one question. */
export interface Answer {
  readonly instructionId: Instruction.InstructionId
  readonly question: Question.QuestionId
  readonly rewards: ReadonlyArray<number>
  readonly missing: number
}

/** The ids of the questions of a step, by place; a brand for each simulated question would take longer than its rewards. */
export const questionId = (place: number): Question.QuestionId => Invariant.at(questionIds, place, "question id")

const questionIds = Arr.makeBy(10_000, (place) => Question.QuestionId.make(`q${place}`))

/** The draws of each question of a step, of so many samples each. */
export interface Request {
  readonly step: number
  readonly draws: ReadonlyArray<ReadonlyArray<Instruction.InstructionId>>
  readonly samples: number
  /** The expected reward of an instruction before any drift. */
  readonly valueOf: (id: Instruction.InstructionId) => number
}

/** Rolls out the steps of a simulation, one after the other. The same seed and requests give the same answers. */
export const open = (world: World, seed: number): ((request: Request) => ReadonlyArray<Answer>) => {
  const { latent } = world
  const nextCase = world.cases === undefined ? null : caseStream(world.cases, seed)
  const { drift = 0, missing } = world
  const heights = new Map<number, number>()
  const heightOf = (value: number) => {
    const known = heights.get(value) ?? quantile(value)
    heights.set(value, known)
    return known
  }
  return ({ draws, samples, step, valueOf }) => {
    const stream = RandomStream.make(seed, ["rewards", step])
    return draws.flatMap((drawn, index) => {
      if (drawn.length === 0) return []
      const repeated = nextCase?.() ?? null
      const shared = repeated?.shared ?? draw(stream)
      return [...countsOf(drawn)].map(([instructionId, count]): Answer => {
        const own = repeated?.own(instructionId) ?? draw(stream)
        const height = heightOf(clamp(valueOf(instructionId) + drift * step))
        const chance = phi((height + latent.question * shared + latent.interaction * own) / latent.noise)
        const rewards: Array<number> = []
        for (let sample = 0; sample < count * samples; sample++) {
          const reward = stream.next() < chance ? 1 : 0
          if (missing === undefined || stream.next() >= (reward === 1 ? missing.success : missing.failure))
            rewards.push(reward)
        }
        return {
          instructionId,
          question: questionId(repeated?.place ?? index),
          rewards,
          missing: count * samples - rewards.length
        }
      })
    })
  }
}

const latentOf = (average: number, { interaction, question }: Options): World["latent"] => {
  const height = quantile(average)
  const correlation = (share: number) => bisect(0, 0.9995, (latent) => shareOf(height, latent) < share)
  const [shared, both] = [correlation(question), correlation(question + interaction)]
  return { question: Math.sqrt(shared), interaction: Math.sqrt(Math.max(0, both - shared)), noise: Math.sqrt(1 - both) }
}

/** The correlation of two successes whose latent variables correlate by `latent`. */
const shareOf = (height: number, latent: number): number => {
  const average = phi(height)
  let square = 0
  for (const { at, weight } of nodes)
    square += weight * phi((height + Math.sqrt(latent) * at) / Math.sqrt(1 - latent)) ** 2
  return (square - average ** 2) / (average * (1 - average))
}

/** A quadrature for the normal distribution. */
const nodes = Arr.makeBy(161, (index) => ({ at: (index - 80) / 10, weight: density((index - 80) / 10) / 10 }))

/** The next case, shuffled within each epoch, with its effects, which are the same in all epochs. */
const caseStream = (cases: number, seed: number) => {
  const stream = RandomStream.make(seed, ["cases"])
  const known = Arr.makeBy(cases, (place) => ({ place, shared: draw(stream), own: effects(stream) }))
  let order = Arr.empty<(typeof known)[number]>()
  return () => {
    if (order.length === 0) order = stream.shuffle(known)
    return Invariant.present(order.pop(), "case")
  }
}

const effects = (stream: RandomStream.RandomStream): ((id: Instruction.InstructionId) => number) => {
  const own = new Map<Instruction.InstructionId, number>()
  return (id) => {
    const effect = own.get(id) ?? draw(stream)
    own.set(id, effect)
    return effect
  }
}

const countsOf = (drawn: ReadonlyArray<Instruction.InstructionId>): ReadonlyMap<Instruction.InstructionId, number> => {
  const counts = new Map<Instruction.InstructionId, number>()
  for (const id of drawn) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

const clamp = (value: number): number => Math.min(0.998, Math.max(0.002, value))
