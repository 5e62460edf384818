import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Advantage, Corrections, Losses } from "@inspo/policy-gradient"
import { GroupRewards } from "@inspo/reward"
import { Schema } from "effect"
import * as fc from "fast-check"
import * as Foreign from "./support/Foreign.ts"

const Rows = Schema.Array(Schema.Array(Schema.Finite))
const Loss = Schema.Struct({ loss: Schema.Finite, gradient: Rows })
const Answers = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      advantages: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Array(Schema.Finite))),
      losses: Schema.Record(Schema.String, Schema.Record(Schema.String, Loss)),
      corrections: Schema.Record(Schema.String, Rows),
      rewards: Schema.Record(Schema.String, Schema.Array(Schema.Finite))
    })
  )
)

/** The constants that the Python program gives to theirs, where these are not the published ones. */
const constants: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "verl clip": { high: 0.28, dual: 3 },
  "verl cispo": { low: 0.2 },
  "verl gspo": { low: 0.1, high: 0.15 },
  "verl dro": { tau: 0.3 },
  "TRL clip": { high: 0.28, dual: 4 },
  "TRL gspo": { low: 0.1, high: 0.15 },
  "TRL luspo": { low: 0.1, high: 0.15 },
  "TRL standardised": { epsilon: 1e-4 },
  "mask-sequence": { low: 0.1, high: 3 },
  "reject-sequence": { low: 0.8, high: 1.3 },
  "soft-overlong": { limit: 40, buffer: 10 }
}

const step = fc.record({
  groups: fc.array(
    fc.array(
      fc.record({
        reward: fc.constantFrom(0, 0.25, 0.5, 1),
        other: fc.constantFrom(0, 1),
        length: fc.integer({ min: 1, max: 9 })
      }),
      { minLength: 4, maxLength: 4 }
    ),
    { minLength: 2, maxLength: 4 }
  ),
  greedy: fc.constantFrom(0, 0.5, 1),
  rollouts: fc.array(
    fc.record({
      tokens: fc.array(
        fc.record({
          old: fc.double({ min: -3, max: -0.2, noNaN: true }),
          change: fc.double({ min: -1, max: 1, noNaN: true })
        }),
        { minLength: 1, maxLength: 6 }
      ),
      advantage: fc.constantFrom(-1.5, -0.3, 0.7, 2),
      length: fc.integer({ min: 1, max: 60 }),
      words: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 9 })
    }),
    { minLength: 1, maxLength: 4 }
  )
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

describe.skipIf(Foreign.problem !== null)("methods of policy optimization", () => {
  it("equal those of verl and TRL, with the gradients of their losses", async () => {
    const steps = fc.sample(step, { seed: 7, numRuns: 1000 })
    const answers = await ask(steps.map(toJson))
    steps.forEach((one, index) => {
      const { advantages, corrections, losses, rewards } = answers[index] ?? assert.fail("no answer")
      for (const [theirs, named] of Object.entries(advantages))
        for (const [name, values] of Object.entries(named))
          close(advantagesOf(one, theirs, name), values, `${theirs} ${name}`)
      for (const [theirs, named] of Object.entries(losses))
        for (const [name, { gradient, loss }] of Object.entries(named)) {
          const ours = lossOf(one, theirs, name)
          close([ours.loss], [loss], `${theirs} ${name}`)
          close(ours.gradient.flat(), gradient.flat(), `gradient of ${theirs} ${name}`)
        }
      for (const [name, rows] of Object.entries(corrections)) {
        const { of } = Corrections.corrections.find((one) => one.name === name) ?? assert.fail(name)
        const ours = sequences(one).map(({ advantages: [advantage = 0], logprobs: trainer, old: sampler }) =>
          of({ trainer, sampler, advantage }, constants[name])
        )
        close(ours.flat(), rows.flat(), name)
      }
      for (const [name, values] of Object.entries(rewards)) {
        const { of } = GroupRewards.groupRewards.find((one) => one.name === name) ?? assert.fail(name)
        const group = one.rollouts.map(({ length, words }) => {
          return { reward: 0, length, answer: null, calls: {}, words: words.map(String) }
        })
        close(of(group, constants[name]), values, name)
      }
    })
    for (const [software, name] of [
      ["verl", "verl"],
      ["TRL", "trl"]
    ] as const)
      Foreign.record({
        software,
        package: name,
        what: "equal advantages, losses and gradients"
      })
  }, 600_000)
})

const program = fileURLToPath(new URL("python/policy_methods.py", import.meta.url))

const ask = (steps: ReadonlyArray<unknown>) =>
  new Promise<typeof Answers.Type>((resolve, reject) => {
    const child = execFile(Foreign.python, [program], { maxBuffer: 2 ** 30 }, (error, stdout, stderr) =>
      error === null ? resolve(Schema.decodeSync(Answers)(stdout)) : reject(new Error(stderr))
    )
    child.stdin?.end(JSON.stringify(steps))
  })

const toJson = ({ greedy, groups, rollouts }: Step) => ({
  greedy,
  groups: groups.map((group) => ({
    rewards: group.map(({ reward }) => reward),
    others: group.map(({ other }) => other),
    lengths: group.map(({ length }) => length)
  })),
  logprobs: rollouts.map(({ tokens }) => tokens.map(now)),
  old: rollouts.map(({ tokens }) => tokens.map(({ old }) => old)),
  advantages: rollouts.map(({ advantage }) => advantage),
  lengths: rollouts.map(({ length }) => length),
  words: rollouts.map(({ words }) => words)
})

const now = ({ change, old }: { readonly old: number; readonly change: number }): number =>
  Math.min(old + change, -0.01)

const sequences = ({ rollouts }: Step): ReadonlyArray<Losses.Sequence> =>
  rollouts.map(({ advantage, tokens }) => ({
    logprobs: tokens.map(now),
    old: tokens.map(({ old }) => old),
    advantages: tokens.map(() => advantage)
  }))

const advantagesOf = ({ greedy, groups }: Step, theirs: string, name: string): ReadonlyArray<number> => {
  const all = [...Advantage.estimators, ...Advantage.furtherEstimators]
  const { ofBatch } = all.find((one) => one.name === name) ?? assert.fail(name)
  const members = groups.map((group) =>
    group.map(({ length, other, reward }) => ({
      reward,
      length,
      answer: null,
      firstCall: null,
      greedy,
      rewards: [reward, other]
    }))
  )
  const values = ofBatch(members, name === "gdpo" ? { weights: [1, 0.5] } : constants[`${theirs} ${name}`]).flat()
  switch (name) {
    // verl counts the members whose reward is not 0, where this package counts those of groups that differ.
    case "gpg": {
      const rewards = members.flat().map(({ reward }) => reward)
      const acting = members.filter((group) => new Set(group.map(({ reward }) => reward)).size > 1).flat().length
      const positive = Math.max(1, rewards.filter((reward) => reward !== 0).length)
      return values.map((value) => (value * acting) / positive)
    }
    // TRL standardises the sum again, over the batch.
    case "gdpo": {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
      const deviation = Math.sqrt(squares / (values.length - 1))
      return values.map((value) => (value - mean) / (deviation + 1e-4))
    }
    default:
      return values
  }
}

/** A loss to be minimised, over the sequences of a step: by the mean of each, or by all tokens where TRL does that. */
const lossOf = (step: Step, theirs: string, full: string) => {
  const name = full.split(" ")[0] ?? full
  const { objective, weights } = Losses.losses.find((one) => one.name === name) ?? assert.fail(name)
  const given = constants[`${theirs} ${name}`]
  const all = sequences(step)
  const tokens = all.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
  const byTokens = theirs === "TRL" && ["clip by tokens", "cispo", "vespo"].includes(full)
  const own = full === "clip by tokens" ? {} : given
  const share = ({ logprobs: { length } }: Losses.Sequence) => (byTokens ? length / tokens : 1 / all.length)
  return {
    loss: -all.reduce((sum, one) => sum + share(one) * objective(one, own), 0),
    gradient: all.map((one) => weights(one, own).map((weight) => (-share(one) * weight) / one.logprobs.length))
  }
}

const close = (ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>, what: string): void => {
  assert.strictEqual(ours.length, theirs.length, what)
  ours.forEach((value, index) => assert.closeTo(value, theirs[index] ?? Number.NaN, 1e-6, what))
}
