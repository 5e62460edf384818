import { assert, describe, it } from "@effect/vitest"
import { inconsistency, Presets, Algorithm, protocolOf } from "@inspo/coevolution"
import { Schema } from "effect"

const { quick } = Presets

describe("Algorithm", () => {
  it("holds every preset, and survives JSON", () => {
    for (const preset of Object.values(Presets.byName)) {
      assert.isNull(inconsistency(preset))
      assert.deepStrictEqual(Schema.decodeUnknownSync(Algorithm)(JSON.parse(JSON.stringify(preset))), preset)
    }
  })

  it.prop(
    "has at least as many members as parents",
    [Schema.Literals([1, 2, 5, 9]), Schema.Literals([1, 2, 5, 9])],
    ([size, parents]) => {
      const found = inconsistency({ ...quick, population: { ...quick.population, size, parents } })
      assert.strictEqual(found?.field ?? null, parents > size ? "population.parents" : null)
    }
  )

  it.prop(
    "samples at another temperature than 1 only a policy that stays as it is",
    [Schema.Literals([0, 0.3, 1, 2]), Schema.NullOr(Schema.Literals([1, 3]))],
    ([temperature, fromStep]) => {
      const found = inconsistency({
        ...quick,
        rollout: { ...quick.rollout, temperature },
        train: { ...quick.train, fromStep }
      })
      assert.strictEqual(found?.field ?? null, temperature === 1 || fromStep === null ? null : "rollout.temperature")
    }
  )

  it("knows which tools an agent calls by itself, and whether its tags are read", () => {
    const kinds = {
      em: { name: "em" },
      f1: { name: "f1" },
      judge: { name: "judge", model: "openai:m", criteria: null },
      command: { name: "command", command: ["true"] }
    } as const
    const acting = (
      agent: "direct" | "ircot" | "rag" | "search-r1",
      kind: keyof typeof kinds,
      changes: Partial<Algorithm["rollout"]> = {}
    ) => {
      const rollout = { ...quick.rollout, agent: { name: agent }, ...changes }
      const { actions, readsTags } = protocolOf({ rollout, reward: { ...quick.reward, kind: kinds[kind] } })
      return [...actions, readsTags]
    }
    assert.deepStrictEqual(acting("search-r1", "em"), ["search", "answer", true])
    assert.deepStrictEqual(acting("search-r1", "command", { tools: ["calculate"] }), ["calculate", "answer", true])
    assert.deepStrictEqual(acting("ircot", "f1", { tools: ["calculate"] }), ["search", "answer", true])
    assert.deepStrictEqual(acting("rag", "judge"), ["answer", true])
    assert.deepStrictEqual(acting("direct", "command", { scoredTurns: "valid" }), ["answer", true])
    assert.deepStrictEqual(acting("direct", "command"), ["answer", false])
  })

  it("names the field, its value and the remedy of a rule between fields", () => {
    const broken: ReadonlyArray<readonly [string, Algorithm]> = [
      ["proposer.model", { ...quick, proposer: { ...quick.proposer, kind: { name: "lessons", lessons: 12 } } }],
      ["rollout.tools", { ...quick, rollout: { ...quick.rollout, agent: { name: "search-r1-exact" }, tools: [] } }],
      [
        "rollout.groupSize",
        { ...quick, rollout: { ...quick.rollout, agent: { name: "modes", forced: 2 }, groupSize: 5 } }
      ],
      [
        "rollout.agent",
        {
          ...quick,
          control: { ...quick.control, demonstrations: "searches" },
          rollout: { ...quick.rollout, agent: { name: "anytime" } }
        }
      ],
      ["train.fromStep", { ...quick, train: { ...quick.train, fromStep: quick.schedule.steps + 1 } }],
      [
        "train.miniBatch.size",
        {
          ...quick,
          train: { ...quick.train, miniBatch: { ...quick.train.miniBatch, size: quick.train.batchSize + 1 } }
        }
      ]
    ]
    for (const [field, algorithm] of broken) {
      const found = inconsistency(algorithm)
      assert.strictEqual(found?.field, field)
      assert.include(found?.message, found?.value ?? "")
      assert.isNotEmpty(found?.remedy)
    }
  })
})
