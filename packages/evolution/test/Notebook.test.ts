import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question } from "@inspo/domain"
import * as Evolution from "@inspo/evolution"
import { Population } from "@inspo/population"
import { Schema } from "effect"

const id = Evolution.instructionId
const instruction = (index: number, text: string) => Instruction.make(text, { id: id(index) })

const schedule = { parents: 1, prunes: () => false, evolves: () => true, resetsWindows: false, isPaused: false }
const candidates = ["New.", "Newer."].map((text) => ({ text, rationale: "" }))
const Mean = Schema.Literals([0, 0.25, 0.5, 1])
const verdict = (mean: number, parentMean: number | null, questions: number) => ({
  accepted: true,
  reason: "not-worse" as const,
  score: mean,
  mean,
  parentMean,
  questions,
  wins: 0,
  losses: 0
})

/** A round of an evolution, with notes or without, whose candidates get these verdicts. */
const round = (
  state: Evolution.EvolutionState,
  step: number,
  notes: Schema.Json | undefined,
  verdicts: ReadonlyArray<ReturnType<typeof verdict>>,
  accepted: Evolution.EventOf<"PopulationRefilled">["accepted"] = []
): Evolution.EvolutionState =>
  (
    [
      { _tag: "ParentsChosen", step, parents: [id(0)] },
      {
        _tag: "CandidatesProposed",
        step,
        round: 1,
        parent: id(0),
        candidates,
        reflected: [],
        ...(notes === undefined ? {} : { notes })
      },
      { _tag: "VerificationBegun", step, round: 1, places: [...candidates.keys()], asks: false },
      { _tag: "CandidatesJudged", step, round: 1, verdicts, again: false },
      { _tag: "PopulationRefilled", step, parents: [id(0)], replaced: [], accepted, shortfall: 2 }
    ] satisfies ReadonlyArray<Evolution.EvolutionEvent>
  ).reduce<Evolution.EvolutionState>((before, event) => Evolution.apply(schedule, before, event), state)

const begun = Evolution.begin([instruction(0, "Old."), instruction(1, "Newer.")])

describe("the notebook of a proposer", () => {
  it.prop(
    "holds the last notes with the verified differences to the parent",
    [Mean, Mean, Mean],
    ([one, other, old]) => {
      const state = round(begun, 0, { lessons: ["a"] }, [verdict(one, old, 4), verdict(other, old, 4)])
      assert.deepStrictEqual(Evolution.Notebook.ofState(state), {
        notes: { lessons: ["a"] },
        outcomes: [
          { text: "New.", gain: one - old },
          { text: "Newer.", gain: other - old }
        ]
      })
    }
  )

  it.prop("stays as it is where a proposal has no notes", [Mean, Mean], ([mean, old]) => {
    const first = round(begun, 0, "first", [verdict(1, 0.5, 4), verdict(0, 0.5, 4)])
    const second = round(first, 1, undefined, [verdict(mean, old, 4), verdict(mean, old, 4)])
    assert.deepStrictEqual(second.notebook, first.notebook)
    assert.isUndefined(round(begun, 0, undefined, [verdict(mean, old, 4), verdict(mean, old, 4)]).notebook)
  })

  it.prop(
    "is the same after a proposal of which nothing can be tried, however the evolution ends",
    [Schema.Json, Schema.Boolean],
    ([notes, isFirst]) => {
      const before = isFirst ? begun : round(begun, 0, "first", [verdict(1, 0.5, 4), verdict(0, 0.5, 4)])
      const step = 1
      const [chosen, ...others] = [
        { _tag: "ParentsChosen", step, parents: [id(0)] },
        { _tag: "CandidatesProposed", step, round: 1, parent: id(0), candidates: [], reflected: [], notes },
        { _tag: "VerificationBegun", step, round: 1, places: [], asks: false },
        { _tag: "CandidatesJudged", step, round: 1, verdicts: [], again: false }
      ] as const satisfies ReadonlyArray<Evolution.EvolutionEvent>
      const noted = { notes, parent: id(0) }
      const refilled = {
        _tag: "PopulationRefilled",
        step,
        parents: [id(0)],
        replaced: [],
        accepted: [],
        shortfall: 2
      } as const
      const after = (...events: ReadonlyArray<Evolution.EvolutionEvent>) =>
        events.reduce<Evolution.EvolutionState>((state, event) => Evolution.apply(schedule, state, event), before)
          .notebook
      const asARun = after(chosen, ...others, refilled)
      assert.deepStrictEqual(asARun, { notes, parent: id(0), outcomes: [] })
      assert.deepStrictEqual(after(chosen, { _tag: "EvolutionSkipped", step, reason: "none", noted }), asARun)
      assert.deepStrictEqual(after(chosen, { ...refilled, noted }), asARun)
      assert.deepStrictEqual(after(chosen, { _tag: "EvolutionSkipped", step, reason: "none" }), before.notebook)
    }
  )

  it("compares candidates that entered untried with their parent, and knows nothing of others", () => {
    const untried = round(begun, 0, "notes", [verdict(0, null, 0), verdict(0, null, 0)])
    const group = (index: number, reward: number): Evolution.Group => ({
      instruction: id(index),
      question: Question.QuestionId.make("q"),
      stratum: "",
      rewards: [reward, reward],
      missing: 0
    })
    const observed = Evolution.observe(Population.comparing(), untried, 1, [group(0, 0), group(1, 1)])
    const [gone, better] = Evolution.Notebook.ofState(observed)?.outcomes.map(({ gain }) => gain) ?? []
    assert.strictEqual(gone, 0)
    assert.isAbove(better ?? 0, 0)
    // A newcomer has the value of the prior, which differs from that of its parent.
    const entered = round(
      Evolution.observe(Population.comparing(), begun, 1, [group(0, 0)]),
      1,
      "notes",
      [verdict(0, null, 0), verdict(0, null, 0)],
      [{ instruction: instruction(2, "New."), mean: 0, questions: 0, verdict: "untried" }]
    )
    assert.strictEqual(Evolution.Notebook.ofState(entered)?.outcomes[0]?.gain, 0)
  })
})
