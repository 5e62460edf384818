/** The laws of every replay buffer. */
import { Experience, Instruction } from "@inspo/domain"
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Schema } from "effect"
import { Contents, type FailuresRequest, type Interface, type VerificationRequest } from "../ReplayBuffer.ts"
import * as Buffers from "./Buffers.ts"

/**
 * The laws of a `ReplayBuffer.Interface`. They say nothing of how much a buffer remembers, and nothing of which failures and
 * questions it prefers.
 */
export const laws = (rule: Omit<Interface, "identity">, options?: Law.Options): ReadonlyArray<Law.Law> => {
  const forAll = (name: string, holds: (one: Case) => void) => Law.forAll(name, cases, options, holds)
  const added = ({ buffer, fresh, step }: Case) => rule.add(buffer, step, fresh)
  return [
    forAll("what is remembered was remembered before or is new, in the order of its steps", (one) => {
      const after = added(one)
      Law.expect(isContents(after), `the buffer is ${JSON.stringify(after)}`)
      const known = new Set([...one.buffer.experiences, ...one.fresh])
      for (const experience of after.experiences)
        Law.expect(known.has(experience), `${experience.trajectoryId} is neither old nor new`)
      Law.same(after.experiences.length, new Set(after.experiences).size, "the number of different experiences")
    }),

    forAll("a question that was just asked is remembered", (one) => {
      const { experiences } = added(one)
      for (const { questionId } of one.fresh)
        Law.expect(
          experiences.some((known) => known.step === one.step && known.questionId === questionId),
          `${questionId} is forgotten in its own step`
        )
    }),

    forAll("failures are remembered, below the threshold, each once, and no more than asked for", (one) => {
      const found = rule.failures(one.buffer, one.failures)
      Law.expect(found.length <= one.failures.count, `${found.length} failures, expected ${one.failures.count}`)
      Law.same(found.length, new Set(found).size, "the number of different failures")
      for (const failure of found) {
        Law.expect(one.buffer.experiences.includes(failure), `${failure.trajectoryId} is not remembered`)
        Law.expect(failure.reward < one.failures.threshold, `the reward of a failure is ${failure.reward}`)
      }
    }),

    forAll("candidates are tried on questions that are remembered, and no more than asked for", (one) => {
      const found = rule.verificationQuestions(one.buffer, one.verification)
      Law.expect(found.length <= one.verification.samples, `${found.length} of ${one.verification.samples} questions`)
      for (const id of found)
        Law.expect(
          one.buffer.experiences.some(({ questionId }) => questionId === id),
          `${id} is not remembered`
        )
    }),

    forAll("equal buffers are drawn from alike, and stay as they are", (one) => {
      const drawn = () => [
        added(one),
        rule.failures(one.buffer, one.failures),
        rule.verificationQuestions(one.buffer, one.verification)
      ]
      const copy = structuredClone(one.buffer)
      Law.same(drawn(), drawn(), "what is drawn from the same buffer")
      Law.same(one.buffer, copy, "the buffer")
    })
  ]
}

/** A buffer with the experiences of its next step, and what is drawn from it. */
interface Case {
  readonly buffer: Contents
  readonly step: number
  readonly fresh: ReadonlyArray<Experience.Experience>
  readonly failures: FailuresRequest
  readonly verification: VerificationRequest
}

const parentOfNone = Instruction.InstructionId.make("i0")

const isContents = Schema.is(Contents)

const Draw = Schema.Struct({
  fresh: Schema.Array(Experience.Experience).check(Schema.isMaxLength(6)),
  count: Schema.Literals([0, 1, 4]),
  threshold: Schema.Literals([0.5, 1]),
  seed: Schema.Int
})

const cases: Arbitrary.Arbitrary<Case> = Arbitrary.map(
  Arbitrary.all([Buffers.arbitrary, Arbitrary.schema(Draw)]),
  ([buffer, { count, fresh, seed, threshold }]) => {
    const [known = fresh[0]] = buffer.experiences
    const step = (buffer.experiences.at(-1)?.step ?? 0) + 1
    return {
      buffer,
      step,
      fresh: fresh.map((experience) => ({ ...experience, step })),
      failures: { parent: known?.instructionId ?? parentOfNone, count, threshold, seed, path: ["failures", step] },
      verification: {
        samples: count,
        exclude: known === undefined ? [] : [known.questionId],
        seed,
        path: ["verification", step]
      }
    }
  }
)
