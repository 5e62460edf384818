import { afterAll, assert, describe, it } from "@effect/vitest"
import type { TrainRequest } from "@inspo/engine"
import { Corrections, Credits, Keeps, Losses, Weighing, Advantage } from "@inspo/policy-gradient"
import { Array, Predicate, Record } from "effect"

/** A step of the paper: groups of 5, and rollouts of about 60 tokens, in two turns around an observation. */
const [groups, members] = [512, 5]

/** Between 0 and 1, without a pattern. */
const noise = (index: number): number => (Math.imul(index + 1, 0x9e3779b1) >>> 8) / 2 ** 24

const masks = Array.makeBy(groups * members, (rollout) => {
  const run = 15 + Math.floor(20 * noise(rollout))
  return Array.makeBy(60 + (rollout % 5), (token): 0 | 1 => (token < run || token >= run + 20 ? 1 : 0))
})
const rewards = masks.map((_, rollout) => (noise(3 * rollout) < 0.4 ? 1 : 0))
const logprobs = masks.map((mask, rollout) => mask.map((_, token) => -noise(64 * rollout + token)))
const now = logprobs.map((ones, rollout) => ones.map((one, token) => one + 0.4 * noise(7 * token + rollout) - 0.2))

const batch = Array.chunksOf(
  masks.map(({ length }, rollout) => ({
    reward: rewards[rollout] ?? 0,
    length,
    answer: `${rollout % 3}`,
    firstCall: 20,
    greedy: 1,
    rewards: [rewards[rollout] ?? 0, noise(rollout)],
    budget: 512,
    confidence: { prompt: noise(rollout), answer: noise(2 * rollout) }
  })),
  members
)
const advantages = Advantage.ofBatch(batch, "standardised")
const episodes = batch.map((group, index) =>
  group.map(({ reward }, member) => ({
    reward,
    advantage: advantages[index]?.[member] ?? 0,
    turns: Array.makeBy(2, (turn) => ({
      score: noise(turn + member),
      critical: turn === 0,
      information: noise(index + turn),
      state: `${(index + turn) % 3}`,
      reward: noise(index + member),
      dependence: Array.makeBy(20, (token) => noise(64 * index + 20 * turn + token)),
      valuable: turn === 1
    }))
  }))
)
const candidates = episodes.map((group) => group.map((one, member) => ({ ...one, truncated: member === 0 })))
const ofRollouts = advantages.flat()
const request: TrainRequest = {
  key: "1",
  datums: masks.map((mask, rollout) => ({
    prompt: [1],
    response: mask,
    logprobs: logprobs[rollout] ?? [],
    advantages: mask.map((isAction) => isAction * (ofRollouts[rollout] ?? 0)),
    weights: mask
  })),
  loss: { clipRatio: 0.2, klCoefficient: 0 },
  optimizer: { learningRate: 1, beta1: 0, beta2: 0, weightDecay: 0, gradientClip: 0 }
}
const sampled = masks.map((_, rollout) => ({
  trainer: now[rollout] ?? [],
  sampler: logprobs[rollout] ?? [],
  advantage: ofRollouts[rollout] ?? 0
}))

/** What a step costs by hand: the ratio of each token and its weight, as lists. */
const reference = (): unknown =>
  request.datums.map(({ advantages, logprobs }, rollout) => {
    const ratios = logprobs.map((old, token) => Math.exp((now[rollout]?.[token] ?? 0) - old))
    return ratios.map((ratio, token) => Math.min(ratio, 1.2) * (advantages[token] ?? 0))
  })

/** Of the constants without a published value. */
const values = {
  k: 2,
  low: 0.2,
  high: 0.8,
  alpha: 1,
  beta: 1,
  temperature: 1,
  gamma: 0.9,
  share: 0.5,
  members: 3,
  lambda: 0.5
}

const given = ({ defaults }: { readonly defaults: object }) =>
  Record.filter(values, (_, name) => Predicate.hasProperty(defaults, name) && defaults[name] === null)

const methods: ReadonlyArray<readonly [name: string, work: () => unknown]> = [
  ...[...Advantage.estimators, ...Advantage.furtherEstimators].map(
    (method) => [`advantage ${method.name}`, () => method.ofBatch(batch, given(method))] as const
  ),
  ...Credits.credits.map(
    (method) =>
      [
        `credit ${method.name}`,
        () =>
          method.isOfTokens === true
            ? method.of(episodes.flat(), given(method))
            : episodes.map((group, index) =>
                method
                  .of(group, given(method))
                  .map((turns, member) => Credits.toTokens(masks[members * index + member] ?? [], turns))
              )
      ] as const
  ),
  ...Keeps.keeps.map((method) => [`keep ${method.name}`, () => method.of(candidates, given(method))] as const),
  ...Losses.losses.map(
    (method) =>
      [
        `loss ${method.name}`,
        () => Weighing.weighed(request, now, { weights: (one) => method.weights(one, given(method)) })
      ] as const
  ),
  ...Corrections.corrections.map(({ name, of }) => [`correction ${name}`, () => sampled.map((one) => of(one))] as const)
]

/** Milliseconds of work. */
const costOf = (work: () => unknown): number => {
  const before = performance.now()
  work()
  return performance.now() - before
}

/** The least milliseconds of work, and the least ratio to the reference. Both of a round are measured together, so that a slow moment affects both. */
const measured = (work: () => unknown) => {
  const rounds = Array.makeBy(9, () => ({ unit: costOf(reference), cost: costOf(work) }))
  return {
    milliseconds: Math.min(...rounds.map(({ cost }) => cost)),
    ratio: Math.min(...rounds.map(({ cost, unit }) => cost / unit))
  }
}

const costs = new Map<string, number>()
afterAll(() => {
  const slowest = [...costs].toSorted(([, a], [, b]) => b - a).slice(0, 5)
  console.log(`slowest, in ms: ${slowest.map(([name, cost]) => `${name} ${cost.toFixed(1)}`).join(", ")}`)
})

describe("the update of a step of 2,560 rollouts", { tags: "deep" }, () => {
  // The reference takes 3 ms on a fast machine. As published, methods cost at most seven of it; Vitest adds to each call between modules.
  it.each(methods)("costs at most twenty loops over its tokens: %s", (name, work) => {
    measured(work)
    const { milliseconds, ratio } = measured(work)
    costs.set(name, milliseconds)
    assert.isAtMost(ratio, 20)
  })
})
