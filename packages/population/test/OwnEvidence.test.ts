import { assert, describe, it } from "@effect/vitest"
import { OwnEvidence, Population } from "@inspo/population"
import { Populations, ValueLaws } from "@inspo/population/testing"
import { Arbitrary, Schema } from "effect"

/** The mean of a Beta distribution over the groups that were rewarded. */
const beta = OwnEvidence.valuation({
  identity: { name: "beta", parameters: {} },
  evidence: Schema.Record(Schema.String, Schema.Tuple([Schema.Finite, Schema.Finite])),
  initial: {},
  observe: (evidence, { members }, groups) => {
    const counts = new Map(Object.entries(evidence))
    for (const { instructionId, rewards } of groups)
      for (const reward of rewards) {
        const [won, lost] = counts.get(instructionId) ?? [1, 1]
        counts.set(instructionId, [won + reward, lost + 1 - reward])
      }
    return Object.fromEntries(
      members.flatMap(({ instruction: { id } }) => {
        const known = counts.get(id)
        return known === undefined ? [] : [[id, known] as const]
      })
    )
  },
  decide: (evidence, { members }) =>
    members.map(({ instruction: { id } }) => {
      const [won, lost] = evidence[id] ?? [1, 1]
      return { id, value: won / (won + lost) }
    })
})

describe("a rule that owns its evidence", () => {
  for (const { check, name } of ValueLaws.laws(beta)) it.effect(name, () => check)

  it("finds it again in a population that was stored, and after members left", () => {
    const [seed, other] = Population.ids(Population.begin(["seed", "other"]))
    if (seed === undefined || other === undefined) assert.fail("two members")
    const groups = [
      { instructionId: seed, rewards: [0, 0] },
      { instructionId: other, rewards: [1, 1] }
    ]
    const known = beta.observe(Population.begin(["seed", "other"]), 1, groups)
    const stored = Schema.decodeSync(Schema.toCodecJson(Population.Contents))(
      Schema.encodeSync(Schema.toCodecJson(Population.Contents))(known)
    )
    assert.deepStrictEqual(
      beta.values(stored).map(({ value }) => value),
      [0.25, 0.75]
    )
    assert.deepStrictEqual(beta.values(Population.remove(stored, [seed])), [{ id: other, value: 0.75 }])
  })

  it.prop("leaves nothing in the populations of other rules", [Arbitrary.schema(Populations.History)], ([history]) => {
    assert.notProperty(Populations.lived(history), "own")
  })
})
