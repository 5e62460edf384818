import { Attempt, Experience, Instruction } from "@inspo/domain"
import { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Removal } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Effect, Layer } from "effect"

/** An agent: its score on a question under a prompt, in [0, 1], and a revision of a prompt for questions that failed. */
export interface Agent {
  readonly ask: (prompt: string, question: string) => Effect.Effect<number>
  readonly revise: (prompt: string, failed: ReadonlyArray<string>) => Effect.Effect<string>
}

/** Asks all, removes prompts that are certainly not the best, and every ten steps adds a revision that is not worse. */
export const loop = Effect.fn("OwnLoop.loop")(function* (agent: Agent, prompt: string, ids: ReadonlyArray<string>) {
  const values = yield* Population.Population
  const buffer = yield* ReplayBuffer.ReplayBuffer
  const halving = yield* Removal.Removal
  const verification = yield* Verification.Verification
  let [population, memory] = [yield* Attempt.attempt(() => Population.begin([prompt])), ReplayBuffer.empty]
  for (let step = 1; step <= 60; step++) {
    const members = Population.instructions(population)
    const asked = members.flatMap(({ id, text }) => ids.map((question) => ({ id, question, text })))
    const groups = yield* Effect.forEach(asked, ({ id, question, text }) =>
      Effect.map(agent.ask(text, question), (reward) => ({ instructionId: id, question, reward, rewards: [reward] }))
    )
    population = yield* Attempt.attempt(() => values.observe(population, step, groups))
    const experience = ({ instructionId: instruction, question, reward }: (typeof groups)[number], n: number) =>
      Experience.make({ id: `${step}/${n}`, instruction, question, step, reward })
    memory = buffer.add(memory, step, groups.map(experience))
    const { pruned } = halving.prune(population, values.values(population))
    population = Population.remove(population, new Set(pruned.map(({ id }) => id)))
    const best = Population.incumbent(population)?.instruction
    if (step % 10 !== 0 || best === undefined) continue
    const failed = buffer.failures(memory, { parent: best.id, count: 4, threshold: 0.5, seed: 1, path: [step] })
    const exclude = failed.map(({ questionId }) => questionId)
    const text = yield* agent.revise(best.text, exclude)
    const held = buffer.verificationQuestions(memory, { samples: 10, exclude, seed: 1, path: ["verify", step] })
    const [parent, own] = yield* Effect.forEach([best.text, text], (one) =>
      Effect.forEach(held, (q) => agent.ask(one, q))
    )
    const scores = { candidates: [own ?? []], parent: parent ?? [], storedParentMean: null }
    const [verdict] = yield* Attempt.attempt(() => verification.judge(scores))
    if (verdict?.accepted !== true) continue
    const revised = yield* Attempt.attempt(() => Instruction.make(text, { id: `i${step}`, parent: best, bornAt: step }))
    population = Population.add(population, [{ instruction: revised }])
  }
  return Population.incumbent(population)?.instruction.text
})

const rules = Layer.merge(Removal.layer(), Verification.layer())
export const layer = Layer.mergeAll(Population.layer(), ReplayBuffer.layer(), rules)
