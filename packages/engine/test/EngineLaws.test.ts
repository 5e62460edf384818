import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { EngineLaws, TabularEngine } from "@inspo/engine/testing"
import { Effect, Layer } from "effect"

type Mutation = (engine: Engine.Interface) => Engine.Interface

/** For each law an engine that breaks it, by the smallest slip that could. */
const mutations: Readonly<Record<string, Mutation>> = {
  "a sample is the same alone as among others": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.map((r, index) => ({ ...r, seed: `${r.seed}${index}` })))
  }),
  "samples follow the order of the requests": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.map((r) => ({ ...r, seed: `${r.seed}${requests[0]?.seed}` })))
  }),
  "equal requests get equal samples, and unequal seeds or positions others": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.map((r) => ({ ...r, seed: "" })))
  }),
  "every request gets n sequences, in request order": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.map((r) => ({ ...r, n: 1 })))
  }),
  "a sequence ends at the first stop, or at maxTokens": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.map((r) => ({ ...r, stop: [] })))
  }),
  "prompt and response stay within the context": (engine) => ({
    ...engine,
    profile: { ...engine.profile, contextLength: engine.profile.contextLength - 1 }
  }),
  "temperature 0 is greedy: the seed does not matter": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.map((r) => ({ ...r, temperature: r.temperature || 1 })))
  }),
  "sampled log-probabilities are those that training sees, observations in between or not": (engine) => ({
    ...engine,
    score: (policy, sequences) =>
      Effect.map(engine.score(policy, sequences), (scores) => scores.map((values) => [...values.slice(1), 0]))
  }),
  "log-probabilities of tokens sampled at another temperature are those at temperature 1": (engine) => ({
    ...engine,
    sample: (requests) =>
      Effect.map(engine.sample(requests), (results) =>
        results.map(({ sequences }, index) => ({
          sequences: sequences.map((sequence) => ({
            ...sequence,
            logprobs: sequence.logprobs.map((logprob) => logprob / (requests[index]?.temperature || 1))
          }))
        }))
      )
  }),
  "training without advantages changes nothing": (engine) => ({
    ...engine,
    train: (request) =>
      engine.train({
        ...request,
        datums: request.datums.map((d) => ({ ...d, advantages: d.advantages.map((a) => a + 1) }))
      })
  }),
  "a positive advantage makes a sequence likelier, a negative one less likely": (engine) => ({
    ...engine,
    train: (request) =>
      engine.train({
        ...request,
        datums: request.datums.map((d) => ({ ...d, advantages: d.advantages.map((a) => -a) }))
      })
  }),
  "observation tokens are not learned": (engine) => ({
    ...engine,
    train: (request) =>
      engine.train({ ...request, datums: request.datums.map((d) => ({ ...d, weights: d.weights.map((w) => w || 1) })) })
  }),
  "the reference policy stays where the engine started": (engine) => ({
    ...engine,
    score: (_, sequences) => engine.score("current", sequences)
  }),
  "while the weights are held, samples are those before training, and then those after it": (engine) => ({
    ...engine,
    hold: Effect.void
  }),
  "a loss term that the profile excludes is refused": (engine) => ({
    ...engine,
    profile: { ...engine.profile, klInLoss: false }
  }),
  "training is refused where the profile excludes it, and the policy that is served can be restored": (engine) => ({
    ...engine,
    profile: { ...engine.profile, trains: false }
  }),
  "restoring a checkpoint brings back policy and optimizer": (engine) => ({
    ...engine,
    restore: ({ uri, hash }) => (uri === "conformance-restore" ? Effect.void : engine.restore({ uri, hash }))
  }),
  "a removed checkpoint cannot be restored, and can be removed again": (engine) => ({
    ...engine,
    remove: () => Effect.void
  }),
  "an empty prompt is refused": (engine) => ({
    ...engine,
    sample: (requests) => engine.sample(requests.filter(({ prompt }) => prompt.length > 0))
  })
}

const holds = (name: string, mutation: Mutation = (engine) => engine) =>
  Effect.forEach(
    EngineLaws.laws().filter((law) => law.name === name),
    ({ check }) => check
  ).pipe(
    Effect.provide(Layer.effect(Engine, Effect.map(TabularEngine.make, mutation)), { local: true }),
    Effect.match({ onSuccess: () => "holds", onFailure: (error) => error._tag })
  )

describe("EngineLaws", () => {
  for (const { name } of EngineLaws.laws()) {
    it.effect(`an engine without a fault: ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* holds(name), "holds")
      })
    )

    it.effect(`a fault is found: ${name}`, () =>
      Effect.gen(function* () {
        assert.property(mutations, name)
        assert.strictEqual(yield* holds(name, mutations[name]), "LawBroken")
      })
    )
  }
})
