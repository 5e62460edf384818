import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Proposer } from "@inspo/reflection"
import { ProposerLaws } from "@inspo/reflection/testing"
import type { RewardFunction } from "@inspo/reward"
import { RewardLaws } from "@inspo/reward/testing"
import type { Agent } from "@inspo/rollout"
import { AgentLaws } from "@inspo/rollout/testing"
import { Removal } from "@inspo/successive-halving"
import { RemovalLaws } from "@inspo/successive-halving/testing"
import { Effect, type Layer } from "effect"
import { moduleOf } from "./support/Modules.ts"

const holds = (laws: ReadonlyArray<Law.Law>) => Effect.forEach(laws, ({ check }) => check, { discard: true })

describe("what the documents show how to write keeps the laws", () => {
  it.effect("the pruning rule", () =>
    Effect.gen(function* () {
      const { dropTheLast } = yield* moduleOf<{
        readonly dropTheLast: (parents: number) => Removal.Interface
      }>("docs/how-to/own-strategy.md")
      for (const parents of [1, 2]) yield* holds(RemovalLaws.laws(dropTheLast(parents)))
    })
  )

  it.effect("the agent", () =>
    Effect.gen(function* () {
      const { checking } = yield* moduleOf<{ readonly checking: Agent }>("docs/how-to/own-agent.md")
      yield* holds(AgentLaws.laws(checking))
    })
  )

  it.effect("the reward", () =>
    Effect.gen(function* () {
      const { thrifty } = yield* moduleOf<{ readonly thrifty: RewardFunction.RewardFunction }>(
        "docs/how-to/own-reward.md"
      )
      yield* holds(RewardLaws.laws(thrifty))
    })
  )

  it.effect("the proposer", () =>
    Effect.gen(function* () {
      const { layerHints } = yield* moduleOf<{ readonly layerHints: Layer.Layer<Proposer> }>(
        "docs/how-to/own-proposer.md"
      )
      yield* holds(ProposerLaws.laws(Proposer.pipe(Effect.provide(layerHints))))
    })
  )
})

describe("docs/how-to/test-your-own.md", () => {
  it.effect("shows a bug, and the one law that finds it", () =>
    Effect.gen(function* () {
      const { found } = yield* moduleOf<{ readonly found: Effect.Effect<ReadonlyArray<Law.LawBroken>> }>(
        "docs/how-to/test-your-own.md",
        "forgetful"
      )
      assert.deepStrictEqual(
        (yield* found).map(({ law }) => law),
        ["a protected member is not removed"]
      )
    })
  )

  it.effect("shows a law of one's own, which some rules keep and others break", () =>
    Effect.gen(function* () {
      const { gentle } = yield* moduleOf<{ readonly gentle: (rule: Removal.Interface) => Law.Law }>(
        "docs/how-to/test-your-own.md",
        "gentle"
      )
      const { dropTheLast } = yield* moduleOf<{
        readonly dropTheLast: (parents: number) => Removal.Interface
      }>("docs/how-to/own-strategy.md")
      yield* gentle(dropTheLast(1)).check
      assert.lengthOf(yield* Law.broken([gentle(Removal.bottomHalf({ parents: 1 }))]), 1)
    })
  )
})
