import { assert, describe, it } from "@effect/vitest"
import { Degradation, Presets, type RunEvent, type RunEvents } from "@inspo/coevolution"
import { Group, Instruction, Question, Trajectory } from "@inspo/domain"
import { Option, Schema } from "effect"

const Facts = Schema.Array(
  Schema.Struct({
    part: Schema.Literals(["proposer", "training", "evaluation"]),
    step: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
    message: Schema.String
  })
)

describe("merge", () => {
  it.prop("counts what befell each part, and keeps when and how it first did", [Facts, Facts], ([earlier, later]) => {
    const all = [...earlier, ...later]
    const merged = Degradation.merge(Degradation.merge([], earlier), later)
    const parts = [...new Set(all.map(({ part }) => part))]
    assert.deepStrictEqual(
      merged,
      parts.map((part) => {
        const own = all.filter((fact) => fact.part === part)
        return { part, step: 0, message: "", ...own[0], count: own.reduce((total, { count }) => total + count, 0) }
      })
    )
  })
})

const id = Instruction.InstructionId.make("i0")
const seed = { id, text: "A", generation: 0, parent: null, origin: "seed", bornAt: 0 } as const
const failure = { kind: "unreachable", message: "nobody there" } as const

const proposed = (
  reasons: ReadonlyArray<string>,
  candidates: ReadonlyArray<string> = []
): typeof RunEvents.CandidatesProposed.Type => ({
  _tag: "CandidatesProposed",
  step: 5,
  round: 1,
  parent: id,
  failures: [],
  critique: "",
  candidates: candidates.map((text) => ({ text, rationale: "" })),
  rejected: reasons.map((reason) => ({ text: reason, reason }))
})

const parts = (event: RunEvent, size = 1) =>
  Degradation.ofEvent({ ...Presets.quick, population: { ...Presets.quick.population, size } }, event, 5)

describe("ofEvent", () => {
  it("tells of a proposer that failed, also where it brought something", () => {
    for (const candidates of [[], ["B"]])
      assert.deepStrictEqual(parts({ ...proposed([], candidates), failure }), [
        { part: "proposer", step: 5, count: 1, message: "nobody there" }
      ])
    const begun = { _tag: "PopulationInitialised", instructions: [seed], failure } as const
    assert.deepStrictEqual(parts(begun, 4), [{ part: "proposer", step: 5, count: 1, message: "nobody there" }])
  })

  it("reports candidates of which none followed the rules, but not a proposer that repeats itself", () => {
    assert.match(parts(proposed(["tags-lost", "duplicate"]))[0]?.message ?? "", /none of 2 .*tags-lost, duplicate/u)
    assert.isEmpty(parts(proposed(["duplicate", "parent-copy", "near-duplicate"])))
    assert.isEmpty(parts(proposed(["tags-lost"], ["B"])))
  })

  it.prop(
    "counts the rollouts in which the policy wrote nothing",
    [Schema.NonEmptyArray(Schema.Literals([0, 7]))],
    ([responseTokens]) => {
      const group = Group.survivors(
        "world",
        responseTokens.map((tokens, at) => ({
          id: Trajectory.TrajectoryId.make(`t${at}`),
          instructionId: id,
          questionId: Question.QuestionId.make("q"),
          reward: 0,
          answer: null,
          toolCalls: 0,
          turns: tokens,
          finishReason: "context-exhausted",
          promptTokens: 9,
          responseTokens: tokens
        }))
      )
      const collected = { _tag: "RolloutsCollected", step: 5, groups: Option.toArray(group) } as const
      const count = responseTokens.filter((tokens) => tokens === 0).length
      assert.strictEqual(parts(collected).find(({ part }) => part === "prompts")?.count ?? 0, count)
    }
  )

  it("tells of a first population with empty places", () => {
    const begun = { _tag: "PopulationInitialised", instructions: [seed] } as const
    assert.include(parts(begun, 4)[0], { part: "candidates", count: 3 })
    assert.isEmpty(parts(begun, 1))
  })
})
