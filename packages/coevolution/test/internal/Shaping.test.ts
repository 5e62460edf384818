import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, Presets } from "@inspo/coevolution"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { GrpoBatch } from "@inspo/policy-gradient"
import { Arbitrary, Schema } from "effect"
import { foundOf, grouped, shaped } from "../../src/internal/perform/Shaping.ts"

const { quick } = Presets

const shaping = (shaping: Algorithm["reward"]["shaping"], agent = quick.rollout.agent): Algorithm => ({
  ...quick,
  reward: { ...quick.reward, shaping },
  rollout: { ...quick.rollout, agent }
})

type Turn = readonly [kind: string, observation: string | null]

/** A success with these turns, which the instruction `of` sampled. */
const rollout = (answer: string | null, turns: ReadonlyArray<Turn>, of = "i0"): Trajectory.Trajectory => ({
  id: Trajectory.TrajectoryId.make("train/1/0/0"),
  instructionId: Instruction.InstructionId.make(of),
  questionId: Question.QuestionId.make("q0"),
  reward: 1,
  answer,
  toolCalls: 0,
  turns: turns.length,
  finishReason: "answered",
  promptTokens: 1,
  responseTokens: 1,
  prompt: [1],
  response: [2],
  logprobs: [0],
  mask: [1],
  transcript: turns.map(([kind, observation]) => ({ text: kind, action: { kind, content: "" }, observation }))
})

const rewards = (algorithm: Algorithm, members: ReadonlyArray<Trajectory.Trajectory>) =>
  shaped(algorithm, members).map(({ reward }) => reward)

/** Words of which some are parts of others, or of the tags of an observation. */
const Words = Schema.Array(Schema.Literals(["mat", "form", "information", "ostrel", "bay"])).check(
  Schema.isMaxLength(6)
)
const words = Arbitrary.schema(Words)
const Kind = Schema.Literals(["search", "lookup", "invalid", "prune"])
const kinds = Arbitrary.array(Arbitrary.array(Arbitrary.schema(Kind), { maxLength: 4 }), { minLength: 1, maxLength: 4 })

describe("the rewards of a policy", () => {
  it.prop(
    "without a judge are those of flawed reasoning exactly where no observation has the words of the answer in order",
    [words, Arbitrary.array(words, { maxLength: 3 })],
    ([answer, observations]) => {
      const turns = observations.map((shown): Turn => ["search", `<information> ${shown.join(" ")}.</information>`])
      const isHeld = observations.some((shown) =>
        shown.some((_, at) => answer.every((word, index) => shown[at + index] === word))
      )
      const [reward] = rewards(shaping({ name: "flawed", penalty: 1, model: "", criteria: "", again: 0 }), [
        rollout(`The ${answer.join(" ")}!`, [...turns, ["answer", null]])
      ])
      assert.strictEqual(reward, answer.length === 0 || isHeld ? 1 : 0)
    }
  )

  it("are 0 by agreement for an answer of which normalisation leaves nothing", () => {
    const agreeing = ["The", "-", "", null, "Bay", "the bay."].map((answer) => rollout(answer, []))
    assert.deepStrictEqual(rewards(shaping({ name: "agreement" }), agreeing), [0, 0, 0, 0, 2 / 6, 2 / 6])
  })

  it.prop("are compared by answers as normalised, also by an advantage", [words, words], ([one, other]) => {
    const members = [`The ${one.join(" ")}!`, one.join("  ").toUpperCase(), other.join(" "), other.join(" ")].map(
      (answer, index) => ({ ...rollout(answer, []), reward: index % 2 })
    )
    const normal = members.map((member, index) => ({ ...member, answer: (index < 2 ? one : other).join(" ") || null }))
    assert.deepStrictEqual(
      GrpoBatch.score(shaped(quick, members), "consistency").map(({ advantage }) => advantage),
      GrpoBatch.score(normal, "consistency").map(({ advantage }) => advantage)
    )
  })

  it.prop(
    "count as calls of tools neither invalid turns nor what the agent itself carries out, unless it has a price",
    [kinds],
    ([groups]) => {
      const members = groups.map((own) =>
        rollout("Bay", [...own.map((kind): Turn => [kind, "shown"]), ["answer", null]])
      )
      const callsNone = groups.map((own) => own.every((kind) => kind === "invalid" || kind === "prune"))
      const taxed = rewards(shaping({ name: "adaptive-tools", alpha: 2 }, { name: "memory" }), members)
      // All succeed, so with a rollout without calls in the group a call takes the whole reward.
      const expected = callsNone.map((isFree) => (isFree || !callsNone.includes(true) ? 1 : 0))
      assert.deepStrictEqual(taxed, expected)
      const priced = rewards(shaping({ name: "costs", prices: { prune: 1, search: 2 } }, { name: "memory" }), members)
      const times = (own: ReadonlyArray<string>, kind: string) => own.filter((one) => one === kind).length
      assert.deepStrictEqual(
        priced,
        groups.map((own) => 1 - times(own, "prune") - 2 * times(own, "search"))
      )
    }
  )

  it("are by what was found of each place, where one rollout stands in two", () => {
    const own = shaping({ name: "tournament", model: "m", criteria: "", again: 0 })
    const members = ["i0", "i1", "i0", "i1"].map((of) => rollout("Bay", [], of))
    const beats = [
      [0.5, 1],
      [0, 0.5],
      [0.5, 0.25],
      [0.75, 0.5]
    ]
    const of = grouped(own, members)
      .flat()
      .map(({ id }, place) => ({ trajectory: id, beats: beats[place] ?? [] }))
    const found = foundOf(own, members, { of, asked: 0, unread: 0, again: 0, differing: 0 })
    assert.deepStrictEqual(
      shaped(own, members, found).map(({ instructionId, reward }) => [String(instructionId), reward]),
      [
        ["i0", 1],
        ["i1", 0.25],
        ["i0", 0],
        ["i1", 0.75]
      ]
    )
  })
})
