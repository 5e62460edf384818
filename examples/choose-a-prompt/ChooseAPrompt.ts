import { Instruction, Question } from "@inspo/domain"
import { Population } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { EvidencePruning } from "@inspo/successive-halving"
import { Array as Arr, Effect, Order } from "effect"

/** `converse` has one conversation under a prompt and returns its reward, from 0 to 1. */
export interface Options<E> {
  readonly prompts: ReadonlyArray<string>
  readonly converse: (prompt: string, conversation: readonly [step: number, index: number]) => Effect.Effect<number, E>
  readonly steps: number
  readonly conversationsPerStep: number
  readonly seed: number
}

/** The prompts that remain after a step, the most probably best first, each with that probability and its expected reward. */
export interface Ranked {
  readonly step: number
  readonly left: ReadonlyArray<{ readonly prompt: string; readonly value: number; readonly chance: number }>
}

/**
 * Chooses among prompts while they are in use: each gets conversations in proportion to its probability of being the best, and
 * every five steps those that are certainly not the best are removed. The last ranking names the winner.
 */
export const choose = Effect.fn("ChooseAPrompt.choose")(function* <E>({
  conversationsPerStep,
  converse,
  prompts,
  seed,
  steps
}: Options<E>) {
  const { observe } = Population.recentSteps({ window: 10 })
  const { values } = Population.compare
  const pruning = EvidencePruning.removal({ delta: 0.05, parents: 1 })
  const sampler = Sampler.make({ rule: "thompson", temperature: 1, assignment: "stratified" })
  let population = Population.begin(prompts.map(instruction))
  const rankings: Array<Ranked> = []

  for (let step = 1; step <= steps; step++) {
    // Which prompt answers which customer.
    const assignment = sampler
      .assign({
        seed,
        step,
        values: values(population),
        questions: Arr.makeBy(conversationsPerStep, (index) => ({
          id: Question.QuestionId.make(`customer ${step}/${index}`),
          dataSource: "shop"
        }))
      })
      .flat()
    const texts = new Map(Population.instructions(population).map(({ id, text }) => [id, text]))
    const groups = yield* Effect.forEach(assignment, (instructionId, index) =>
      Effect.map(converse(texts.get(instructionId) ?? "", [step, index]), (reward) => ({
        instructionId,
        rewards: Arr.of(reward)
      }))
    )
    population = observe(population, step, groups)

    if (step % 5 === 0) {
      const { pruned } = pruning.prune(population, values(population))
      population = Population.remove(
        population,
        pruned.map(({ id }) => id)
      )
    }
    rankings.push({
      step,
      left: values(population)
        .map(({ chance = 0, id, value }) => ({ prompt: texts.get(id) ?? "", value, chance }))
        .toSorted(Order.flip(Order.mapInput(Order.Number, ({ chance }) => chance)))
    })
  }
  return rankings
})

const instruction = (text: string, index: number): Instruction.Instruction => ({
  id: Instruction.InstructionId.make(`i${index}`),
  text,
  generation: 0,
  parent: null,
  origin: "variant",
  bornAt: 0
})
