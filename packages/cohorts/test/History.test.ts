import { assert, describe, it } from "@effect/vitest"
import { content, History, type PopulationEvent } from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import * as fc from "fast-check"
import { eventful, Life, type Step, step } from "./support/Life.ts"
import { changed } from "./support/Changed.ts"

const read = (log: ReadonlyArray<PopulationEvent>): History.History => log.reduce(History.after, History.none)

/** An instruction is added, given up by going back, and another is added under its id. */
const repeated: ReadonlyArray<Step> = [
  { kind: "cohort", units: 4, bias: 0 },
  { kind: "cohort", units: 4, bias: 0 },
  { kind: "add", place: 0, text: "first" },
  { kind: "cohort", units: 4, bias: 0 },
  { kind: "cohort", units: 4, bias: 0 },
  { kind: "rewind" },
  { kind: "add", place: 0, text: "second" },
  { kind: "cohort", units: 4, bias: 0 }
]

const lives = fc.record({
  profile: fc.constantFrom("online" as const, "trainer" as const),
  steps: fc.array(step, { minLength: 1, maxLength: 40 })
})

describe("a history", () => {
  it("lists the living instructions of the log with parent and text, and all others as removed", () => {
    fc.assert(
      fc.property(lives, ({ profile, steps }) => {
        const life = new Life(eventful(profile))
        for (const [index, one] of steps.entries()) life.take(one, index + 1)
        const { incumbent, population } = life.state.learning
        const history = read(life.log)
        const byId = (a: { readonly id: string }, b: { readonly id: string }) => a.id.localeCompare(b.id)
        assert.deepStrictEqual(
          [...history.known.values()]
            .filter((one) => History.fate(one) === "alive")
            .map(({ content, generation, id, parent }) => ({ id, content, parent, generation }))
            .toSorted(byId),
          population.members
            .map(({ instruction: { generation, id, parent, text } }) => ({ id, content: text, parent, generation }))
            .toSorted(byId)
        )
        assert.strictEqual(history.folded, population.step)
        assert.strictEqual(history.incumbent, incumbent.id)
      }),
      { numRuns: 60 }
    )
  })

  it("counts what was proposed on a branch that was given up as removed", () => {
    const life = new Life(eventful("trainer"))
    for (const [index, one] of repeated.entries()) life.take(one, index + 1)
    const at = life.log.findIndex(({ _tag }) => _tag === "Rewound")
    const before = read(life.log.slice(0, at))
    assert.isNotNull(before.incumbent)
    const proposed: PopulationEvent = {
      _tag: "CandidatesProposed",
      step: before.folded,
      round: 1,
      parent: before.incumbent,
      candidates: [{ text: "again", rationale: "" }],
      reflected: []
    }
    const after = read([...life.log.slice(0, at), proposed, ...life.log.slice(at, at + 1)])
    const fates = Array.from(after.known.values()).filter(({ content }) => content === "again")
    assert.deepStrictEqual(fates.map(History.fate), ["rewound"])
  })

  it("finds every leased text by the branch of its lease, after any later events", () => {
    fc.assert(
      fc.property(lives, ({ profile, steps }) => {
        const life = new Life(eventful(profile))
        const leased = new Map<string, readonly [branch: number, id: string, content: unknown]>()
        for (const [index, one] of [...steps, ...repeated].entries()) {
          const { branch, learning } = life.state
          for (const id of learning.population.members.map(({ instruction }) => instruction.id))
            leased.set(`${branch}/${id}`, [branch, id, content(life.state, id)])
          life.take(one, index + 1)
        }
        const history = read(life.log)
        for (const [branch, id, said] of leased.values())
          assert.deepStrictEqual(History.find(history, branch, Instruction.InstructionId.make(id))?.content, said)
      }),
      { numRuns: 60 }
    )
  })

  it("keeps the decisions on candidates, with the rationale of their proposer, also after a rewind", () => {
    const life = new Life(changed(eventful("online"), { approval: "by-hand", evolveEvery: 0 }))
    const at = (kind: "evolve" | "rewind") => life.take({ kind }, life.log.length)
    const known = (id: string) => {
      const one = read(life.log).known.get(id)
      return one === undefined ? undefined : [History.fate(one), one.rationale]
    }
    life.train(20, 1, 1)
    at("evolve")
    life.take({ kind: "propose", texts: ["terse", "kind"] }, 2)
    const [one, two] = [...read(life.log).known.keys()].filter((id) => id.startsWith("proposal-"))
    assert.deepStrictEqual(known(one ?? ""), ["waiting", "because terse"])
    for (const now of [3, 4, 5]) life.train(20, 1, now)
    at("rewind")
    assert.strictEqual(read(life.log).branch, 1)
    life.take({ kind: "reject" }, 6)
    assert.deepStrictEqual(
      [known(one ?? ""), known(two ?? "")],
      [
        ["rejected", "because terse"],
        ["rejected", "because kind"]
      ]
    )
  })
})
