import { assert, describe, it } from "@effect/vitest"
import { Presets, RunState, Strategies } from "@inspo/coevolution"
import { Question, Trajectory } from "@inspo/domain"
import { Schema } from "effect"
import { next } from "../../src/internal/EvolutionStep.ts"

const parent = RunState.instructionId(0)

const Reward = Schema.Literals([0, 0.25, 0.5, 1])
/** A question of D_B: what a candidate got, and what the parent has on record, null where it never met the question. */
const Asked = Schema.Struct({ candidate: Reward, record: Schema.NullOr(Reward) })

const verdictOf = (baseline: "stored" | "shared", asked: ReadonlyArray<typeof Asked.Type>) => {
  const algorithm = { ...Presets.paper, selection: { ...Presets.paper.selection, baseline } }
  const question = (at: number) => Question.QuestionId.make(`q${at}`)
  const questions = asked.map((_, at) => question(at))
  const setting = { ...Strategies.deciding(algorithm), questions: [] }
  const state: RunState.RunState = {
    ...RunState.unstarted,
    phase: { _tag: "Evolve" },
    due: "Judge",
    evolution: {
      step: 1,
      round: 1,
      parents: [parent],
      verified: [],
      stage: {
        _tag: "Verifying",
        parent,
        candidates: [{ text: "candidate", rationale: "" }],
        reflected: [],
        scores: { questions, candidates: [asked.map(({ candidate }) => candidate)], parent: null }
      }
    },
    buffer: {
      experiences: asked.flatMap(({ record }, at) =>
        record === null
          ? []
          : [
              {
                trajectoryId: Trajectory.TrajectoryId.make(`t${at}`),
                instructionId: parent,
                questionId: question(at),
                dataSource: "nq",
                step: 1,
                reward: record
              }
            ]
      )
    }
  }
  const command = next(setting, state)
  return command._tag === "Record" && command.event._tag === "CandidatesJudged" ? command.event.verdicts[0] : undefined
}

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, one) => sum + one, 0) / values.length

describe("the parent's record", () => {
  it.prop(
    "row 31: `shared` compares both on the questions that the parent met, `stored` the candidate on all of them",
    [Schema.NonEmptyArray(Asked)],
    ([asked]) => {
      const met = asked.filter(({ record }) => record !== null)
      const record = met.length === 0 ? null : mean(met.map(({ record }) => record ?? 0))
      for (const [baseline, counted] of [
        ["stored", asked],
        ["shared", met.length === 0 ? asked : met]
      ] as const) {
        const verdict = verdictOf(baseline, asked)
        const own = mean(counted.map(({ candidate }) => candidate))
        assert.deepStrictEqual([verdict?.mean, verdict?.parentMean, verdict?.questions], [own, record, counted.length])
        assert.strictEqual(verdict?.accepted, record === null || own >= record)
      }
    }
  )
})
