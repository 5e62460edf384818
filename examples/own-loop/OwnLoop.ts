import { Experience, Instruction } from "@inspo/domain"
import { InstructionValue, Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Sampler } from "@inspo/sampler"
import { SuccessiveHalving } from "@inspo/successive-halving"
import { Effect, Layer } from "effect"

/** An agent: its score on a question under a prompt, in [0, 1], and a revision of a prompt for questions that failed. */
export interface Agent {
  readonly ask: (prompt: string, question: string) => Effect.Effect<number>
  readonly revise: (prompt: string, failed: ReadonlyArray<string>) => Effect.Effect<string>
}

/** Asks each question under two prompts, removes those that are certainly not the best, and adds one every ten steps. */
export const loop = Effect.fn("OwnLoop.loop")(function* (agent: Agent, prompt: string, ids: ReadonlyArray<string>) {
  const values = yield* InstructionValue.InstructionValue
  const sampler = yield* Sampler.Sampler
  const buffer = yield* ReplayBuffer.ReplayBuffer
  const halving = yield* SuccessiveHalving.SuccessiveHalving
  const questions = ids.map((id) => ({ id }))
  let [population, memory] = [Population.make([prompt]), ReplayBuffer.empty]
  for (let step = 1; step <= 60; step++) {
    const draws = sampler.assign({ seed: 1, step, values: values.values(population), questions })
    const asked = ids.flatMap((question, place) => (draws[place] ?? []).map((id) => ({ id, question })))
    const texts = new Map(Population.instructions(population).map(({ id, text }) => [id, text]))
    const rewards = yield* Effect.forEach(asked, ({ id, question }) => agent.ask(texts.get(id) ?? "", question))
    const groups = asked.map(({ id, question }, n) => ({
      instructionId: id,
      question,
      rewards: rewards.slice(n, n + 1)
    }))
    population = values.observe(population, step, groups)
    const experience = ({ id: instruction, question }: (typeof asked)[number], n: number) =>
      Experience.make({ id: `${step}/${n}`, instruction, question, step, reward: rewards[n] ?? 0 })
    memory = buffer.add(memory, step, asked.map(experience))
    const leaving = halving.prune(population, values.values(population)).pruned.map(({ id }) => id)
    population = Population.remove(population, leaving)
    const best = Population.incumbent(population)?.instruction
    if (step % 10 !== 0 || best === undefined) continue
    const failures = buffer.failures(memory, { parent: best.id, count: 4, threshold: 0.5, seed: 1, path: [step] })
    const failed = failures.map(({ questionId }) => questionId)
    const text = yield* agent.revise(best.text, failed)
    const instruction = Instruction.make(text, { id: `i${step}`, parent: best, bornAt: step })
    population = Population.add(population, [{ instruction }])
  }
  return Population.incumbent(population)?.instruction.text
})

const sampler = Sampler.layer({ sharing: { _tag: "Groups", instructionsPerQuestion: 2 } })
export const layer = Layer.mergeAll(InstructionValue.layer(), sampler, ReplayBuffer.layer(), SuccessiveHalving.layer())
