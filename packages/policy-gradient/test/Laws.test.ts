import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Advantage, Losses } from "@inspo/policy-gradient"
import { EstimatorLaws, SurrogateLaws } from "@inspo/policy-gradient/testing"
import { Effect } from "effect"

const comparing = new Set(["reward", "reinforce-plus-plus", "reinforce-plus-plus-baseline", "consistency"])

describe.each(Advantage.estimators)("the advantage $name", (estimator) => {
  const options = { comparesGroups: comparing.has(estimator.name) }
  for (const { check, name } of EstimatorLaws.laws(estimator, options)) it.effect(name, () => check)
})

describe.each(Losses.losses)("the loss $name", (loss) => {
  const given = loss.name === "ratio-variance" ? { lambda: 0.04 } : {}
  const own: Parameters<typeof SurrogateLaws.laws>[0] = {
    weights: (sequence) => loss.weights(sequence, given),
    objective: (sequence, _, held) => loss.objective(sequence, given, held)
  }
  const options = loss.name === "luspo" ? { atRatioOne: (advantage: number, length: number) => advantage * length } : {}
  // The weight of a demonstration depends on its probability, at ratio 1 too.
  const laws = SurrogateLaws.laws(own, options).slice(loss.name === "icpo" ? 1 : 0)
  for (const { check, name } of laws) it.effect(name, () => check)
})

type OfBatch = Parameters<typeof EstimatorLaws.laws>[0]["ofBatch"]
const [grpo] = Advantage.estimators
const changed =
  (change: (value: number, index: number) => number): OfBatch =>
  (groups) =>
    grpo.ofBatch(groups).map((group) => group.map(change))

/** For each law an estimator that breaks it. */
const bugs: Readonly<Record<string, OfBatch>> = {
  "each member has a finite advantage": changed((value) => (value === 0 ? value : Infinity * value)),
  "an advantage moves with its member and its group": changed((value, index) => value * (index + 1) ** 2),
  "among members that differ in reward alone, a larger reward has no smaller advantage": changed((value) => -value),
  "a group of equal rewards has no advantages": changed((value) => value + 1)
}

describe("the laws find a planted bug", () => {
  it.effect.each(EstimatorLaws.laws(grpo).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const ofBatch = bugs[name] ?? assert.fail("no bug is planted")
      const broken = yield* Law.broken(EstimatorLaws.laws({ ofBatch }, { runs: 1000 }))
      assert.include(
        broken.map(({ law }) => law),
        name
      )
    })
  )

  it.effect("of a loss whose weights are not its gradient, or not the advantages", () =>
    Effect.gen(function* () {
      const [clip] = Losses.losses
      const half = {
        ...clip,
        weights: (...given: Parameters<typeof clip.weights>) => clip.weights(...given).map((g) => g / 2)
      }
      assert.strictEqual((yield* Law.broken(SurrogateLaws.laws(half))).length, 2)
    })
  )
})
