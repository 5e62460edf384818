import { assert, describe, it } from "@effect/vitest"
import { Question } from "@inspo/domain"
import { Law } from "@inspo/domain/testing"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { BufferLaws } from "@inspo/replay-buffer/testing"
import { Effect } from "effect"

describe.each([
  ["latest", ReplayBuffer.latest({ capacitySteps: 1 })],
  ["own", ReplayBuffer.own({ capacitySteps: 3, perQuestionCap: 1 })],
  ["uniform questions", ReplayBuffer.make({ questions: "uniform" })]
] as const)("%s", (_, rule) => {
  for (const { check, name } of BufferLaws.laws(rule)) it.effect(name, () => check)
})

type Rule = Omit<ReplayBuffer.Interface, "identity">
const right: Rule = ReplayBuffer.latest({ capacitySteps: 8 })

/** For each law a buffer that breaks it, and no other. */
const bugs: Readonly<Record<string, () => Rule>> = {
  "what is remembered was remembered before or is new, in the order of its steps": () => ({
    ...right,
    add: (...given) => {
      const { experiences } = right.add(...given)
      return { experiences: [...experiences, ...experiences.slice(-1)] }
    }
  }),
  "a question that was just asked is remembered": () => ({ ...right, add: (buffer) => buffer }),
  "failures are remembered, below the threshold, each once, and no more than asked for": () => ({
    ...right,
    failures: (buffer, request) => right.failures(buffer, { ...request, threshold: 2 })
  }),
  "candidates are tried on questions that are remembered, and no more than asked for": () => ({
    ...right,
    verificationQuestions: (_, { samples }) => (samples > 0 ? [Question.QuestionId.make("another")] : [])
  }),
  "equal buffers are drawn from alike, and stay as they are": () => {
    let turn = 0
    return { ...right, failures: (...given) => right.failures(...given).slice(0, turn++ % 2) }
  }
}

describe("the laws of a replay buffer find a planted bug", { tags: "deep" }, () => {
  it.effect.each(BufferLaws.laws(right).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(BufferLaws.laws(bug(), { runs: 1000 }))).map(({ law }) => law),
        [name]
      )
    })
  )
})
