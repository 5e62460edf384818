import { Instruction, Question } from "@inspo/domain"
import { InstructionValue, Population, Ranking } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { SuccessiveHalving } from "@inspo/successive-halving"
import { Array as Arr, Effect } from "effect"

/** `converse` has one conversation under a prompt and returns its reward, from 0 to 1. */
export interface Options<E> {
  readonly prompts: ReadonlyArray<string>
  readonly converse: (prompt: string, conversation: readonly [step: number, index: number]) => Effect.Effect<number, E>
  readonly steps: number
  readonly conversationsPerStep: number
  readonly seed: number
}

/** The prompts that remain after a step, best first, each with the mean reward of its recent conversations. */
export interface Ranked {
  readonly step: number
  readonly left: ReadonlyArray<{ readonly prompt: string; readonly value: number }>
}

/**
 * Chooses among prompts while they are in use: better ones get more conversations, and every five steps the worse half
 * is removed. The last ranking names the winner.
 */
export const choose = Effect.fn("ChooseAPrompt.choose")(function* <E>({
  conversationsPerStep,
  converse,
  prompts,
  seed,
  steps
}: Options<E>) {
  const valuation = InstructionValue.recentSteps({ window: 10 })
  const halving = SuccessiveHalving.spareUnseen({ parents: 1, minimumGroups: 10 })
  const sampler = Sampler.stratified({ temperature: 0.2 })
  let population = Population.make(prompts.map(instruction))
  const rankings: Array<Ranked> = []

  for (let step = 1; step <= steps; step++) {
    // Which prompt answers which customer: a softmax over the values, plus each prompt with too little evidence to prune.
    const assignment = sampler.assign({
      seed,
      step,
      values: valuation.values(population),
      questions: Arr.makeBy(conversationsPerStep, (index) => ({
        id: Question.QuestionId.make(`customer ${step}/${index}`),
        dataSource: "shop"
      })),
      newcomers: halving.unseen(population)
    })
    const texts = new Map(Population.instructions(population).map(({ id, text }) => [id, text]))
    const groups = yield* Effect.forEach(assignment, (instructionId, index) =>
      Effect.map(converse(texts.get(instructionId) ?? "", [step, index]), (reward) => ({
        instructionId,
        rewards: Arr.of(reward)
      }))
    )
    population = valuation.observe(population, step, groups)

    if (step % 5 === 0) {
      const { pruned } = halving.prune(population, valuation.values(population))
      population = Population.remove(
        population,
        pruned.map(({ id }) => id)
      )
    }
    rankings.push({
      step,
      left: Ranking.explored(population, valuation.values(population)).map((member) => ({
        prompt: member.instruction.text,
        value: member.value ?? 0
      }))
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
