import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question } from "@inspo/domain"
import type { TrainRequest } from "@inspo/engine"
import { GrpoBatch, type TrainConfig } from "@inspo/policy-gradient"
import { Schema } from "effect"
import { update } from "./support/Update.ts"

const config = {
  ...update,
  miniBatch: { ...update.miniBatch, size: 8 },
  kl: { name: "advantages", coefficient: 0.7 },
  optimizer: { ...update.optimizer, weightDecay: 0 }
} as const satisfies TrainConfig

/** A policy without context: one logit per token of a small vocabulary. */
type Logits = ReadonlyArray<number>

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const logprobs = (logits: Logits): ReadonlyArray<number> => {
  const total = Math.log(sum(logits.map(Math.exp)))
  return logits.map((logit) => logit - total)
}

/** The engine's loss: Σ weight × (-min(ρA, clip(ρ)A) + β · k3). */
const loss = (requests: ReadonlyArray<TrainRequest>, logits: Logits, reference: Logits): number =>
  sum(
    requests.flatMap(({ datums, loss: { clipRatio, klCoefficient } }) =>
      datums.flatMap((datum) =>
        datum.response.map((token, at) => {
          const current = logprobs(logits)[token] ?? NaN
          const ratio = Math.exp(current - (datum.logprobs[at] ?? NaN))
          const advantage = datum.advantages[at] ?? NaN
          const clipped = Math.min(Math.max(ratio, 1 - clipRatio), 1 + clipRatio)
          const gap = (logprobs(reference)[token] ?? NaN) - current
          const kl = Math.exp(gap) - gap - 1
          return (datum.weights[at] ?? NaN) * (klCoefficient * kl - Math.min(ratio * advantage, clipped * advantage))
        })
      )
    )
  )

/** Central differences. */
const gradient = (value: (logits: Logits) => number, at: Logits): ReadonlyArray<number> =>
  at.map((_, index) => {
    const moved = (by: number) => value(at.map((logit, other) => (other === index ? logit + by : logit)))
    return (moved(1e-5) - moved(-1e-5)) / 2e-5
  })

const Logit = Schema.Finite.check(Schema.isBetween({ minimum: -2, maximum: 2 }))
const Policy = Schema.Tuple([Logit, Logit, Logit, Logit])
const Token = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
const Episode = Schema.Struct({
  reward: Schema.Literals([0, 1]),
  response: Schema.NonEmptyArray(Schema.Struct({ token: Token, action: Schema.Literals([0, 1]) })).check(
    Schema.isMaxLength(5)
  )
})
const Group = Schema.NonEmptyArray(Episode).check(Schema.isMaxLength(4))

/** One group, sampled from `policy`. */
const sampled = (group: typeof Group.Type, policy: Logits): ReadonlyArray<GrpoBatch.Sampled> =>
  group.map(({ response, reward }, index) => ({
    instructionId: Instruction.InstructionId.make("i0"),
    questionId: Question.QuestionId.make("q0"),
    reward,
    prompt: [index],
    response: response.map(({ token }) => token),
    logprobs: response.map(({ action, token }) => (action === 1 ? (logprobs(policy)[token] ?? NaN) : 0)),
    mask: response.map(({ action }) => action)
  }))

/** The requests of one group, as a run makes them. */
const requests = (
  group: typeof Group.Type,
  { policy, reference }: { readonly policy: Logits; readonly reference: Logits },
  kl: TrainConfig["kl"] = config.kl
): ReadonlyArray<TrainRequest> => {
  const settings: TrainConfig = { ...config, kl }
  const made = GrpoBatch.trainRequests(sampled(group, policy), settings, { key: "1", learningRate: 1e-3 })
  if (kl.name !== "advantages") return made
  return made.map((request) =>
    GrpoBatch.foldKl(
      request,
      request.datums.map(({ response }) => response.map((token) => logprobs(reference)[token] ?? NaN)),
      kl.coefficient
    )
  )
}

const close = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) =>
  a.forEach((value, index) => assert.closeTo(value, b[index] ?? NaN, 1e-6))

describe("KL folded into the advantages", () => {
  it.prop(
    "adds at ratio 1 the gradient of β · ½(log π - log π_ref)², weighted as the loss is",
    [Group, Policy, Policy],
    ([group, policy, reference]) => {
      const folded = requests(group, { policy, reference })
      const plain = requests(group, { policy, reference }, { name: "none" })
      const penalty = (logits: Logits) =>
        sum(
          folded.flatMap(({ datums }) =>
            datums.flatMap(({ response, weights }) =>
              response.map((token, at) => {
                const gap = (logprobs(logits)[token] ?? NaN) - (logprobs(reference)[token] ?? NaN)
                return (weights[at] ?? NaN) * config.kl.coefficient * 0.5 * gap * gap
              })
            )
          )
        )
      const added = gradient((logits) => loss(folded, logits, reference), policy)
      const without = gradient((logits) => loss(plain, logits, reference), policy)
      close(
        added.map((value, index) => value - (without[index] ?? NaN)),
        gradient(penalty, policy)
      )
    }
  )

  it.prop(
    "touches action tokens alone, and no token's share",
    [Group, Policy, Policy],
    ([group, policy, reference]) => {
      const plain = requests(group, { policy, reference }, { name: "loss", coefficient: 0.7 }).flatMap(
        ({ datums }) => datums
      )
      const folded = requests(group, { policy, reference }).flatMap(({ datums }) => datums)
      assert.strictEqual(folded.length, plain.length)
      folded.forEach((datum, index) => {
        assert.deepStrictEqual({ ...datum, advantages: [] }, { ...plain[index], advantages: [] })
        datum.weights.forEach((weight, at) => {
          if (weight === 0) assert.strictEqual(datum.advantages[at], 0)
        })
      })
    }
  )

  it.prop("is in the mean over samples the gradient of β · KL(π ‖ π_ref)", [Policy, Policy], ([policy, reference]) =>
    close(
      meanGradient("advantages", policy, reference),
      gradient((logits) => config.kl.coefficient * divergence(logits, reference), policy)
    )
  )

  it.prop("while the k3 term of the loss pulls by that of β · KL(π_ref ‖ π)", [Policy, Policy], ([policy, reference]) =>
    close(
      meanGradient("loss", policy, reference),
      gradient((logits) => config.kl.coefficient * divergence(reference, logits), policy)
    )
  )
})

const oneAction = (token: number): typeof Group.Type => [{ reward: 1, response: [{ token, action: 1 }] }]

/** KL(p ‖ q). */
const divergence = (p: Logits, q: Logits): number =>
  sum(logprobs(p).map((logprob, token) => Math.exp(logprob) * (logprob - (logprobs(q)[token] ?? NaN))))

/** The gradient of the loss of one token without advantage, in the mean over tokens drawn from the policy. */
const meanGradient = (name: "advantages" | "loss", policy: Logits, reference: Logits): ReadonlyArray<number> => {
  const perToken = policy.map((_, token) => {
    const alone = requests(oneAction(token), { policy, reference }, { name, coefficient: config.kl.coefficient })
    const probability = Math.exp(logprobs(policy)[token] ?? NaN)
    return gradient((logits) => loss(alone, logits, reference), policy).map((value) => probability * value)
  })
  return policy.map((_, index) => sum(perToken.map((values) => values[index] ?? NaN)))
}
