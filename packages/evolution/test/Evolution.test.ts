import { assert, describe, it } from "@effect/vitest"
import type { Instruction, InstructionId } from "@inspo/domain/Instruction"
import {
  apply,
  begin,
  decide,
  type DecisionContext,
  endUnit,
  type EvolutionEvent,
  EvolutionEvent as Event,
  type EvolutionState,
  type Group,
  instructionId,
  isPending,
  observe,
  pending,
  rest,
  type Schedule,
  UnexpectedEvent
} from "@inspo/evolution"
import { QuestionId } from "@inspo/domain/Question"
import { InstructionValue, Population } from "@inspo/population"
import { EvidencePruning, SuccessiveHalving } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Schema } from "effect"
import * as fc from "fast-check"

const averaging: InstructionValue.Averaging = { window: 3, average: "observed", span: "steps" }

/** How a population is led, for as long as it lives. */
interface Led {
  readonly parents: number
  readonly size: number
  readonly rule: "evidence" | "bottom-half"
  readonly resetsWindows: boolean
  readonly questions: number
  readonly rounds: number
  readonly protectsSeed: boolean
}

const led: fc.Arbitrary<Led> = fc.record({
  parents: fc.integer({ min: 1, max: 2 }),
  size: fc.integer({ min: 3, max: 5 }),
  rule: fc.constantFrom("evidence", "bottom-half"),
  resetsWindows: fc.boolean(),
  questions: fc.integer({ min: 0, max: 3 }),
  rounds: fc.integer({ min: 1, max: 2 }),
  protectsSeed: fc.boolean()
})

/** A unit of time: a reward for each question and arm, drawn by place, and what a proposer or a person does afterwards. */
interface Unit {
  readonly rewards: ReadonlyArray<number>
  readonly missing: ReadonlyArray<number>
  readonly proposed: number
  readonly isSkipped: boolean
  readonly isPaused: boolean
}

const unit: fc.Arbitrary<Unit> = fc.record({
  rewards: fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 12, maxLength: 12 }),
  missing: fc.array(fc.nat(2), { minLength: 12, maxLength: 12 }),
  proposed: fc.nat(3),
  isSkipped: fc.boolean(),
  isPaused: fc.boolean()
})

const seed = instructionId(0)
const member = (index: number): Instruction => ({
  id: instructionId(index),
  text: `instruction ${index}`,
  generation: 0,
  parent: null,
  origin: "variant",
  bornAt: 0
})

const schedule = ({ parents, resetsWindows }: Led, isPaused: boolean): Schedule.Schedule => ({
  parents,
  resetsWindows,
  isPaused,
  prunes: (step) => step % 2 === 0,
  evolves: (step) => step % 3 === 0
})

const context = (one: Led, state: EvolutionState): DecisionContext => {
  const valuation = InstructionValue.recentSteps(averaging)
  const { parents, rule } = one
  return {
    strategies: {
      valuation,
      halving:
        rule === "evidence" ? EvidencePruning.make({ delta: 0.9, parents }) : SuccessiveHalving.bottomHalf({ parents }),
      verification:
        one.questions === 0
          ? Verification.untried({ rounds: one.rounds, fill: false })
          : Verification.rerunParent({ rounds: one.rounds, fill: false })
    },
    values: valuation.values(state.population),
    settings: { population: { size: one.size } },
    protectedIds: new Set(one.protectsSeed ? [seed] : []),
    generationOf: () => 0,
    verification: { asks: one.questions > 0 }
  }
}

/** Every member is asked: a group of each, by turns on a question that all share. */
const groupsOf = (state: EvolutionState, { missing, rewards }: Unit): ReadonlyArray<Group> => {
  const question = state.population.step % 2 === 0 ? null : QuestionId.make("shared")
  return Population.ids(state.population).flatMap((instruction: InstructionId, at) => {
    const own = { instruction, question, stratum: "all", missing: missing[at % 12] ?? 0 }
    return own.missing === 2 ? [{ ...own, rewards: [] }] : [{ ...own, rewards: [rewards[at % 12] ?? 0] }]
  })
}

/** A life of a population, with every state and event on its way. */
const live = (
  one: Led,
  units: ReadonlyArray<Unit>,
  watch: (before: EvolutionState, event: EvolutionEvent, after: EvolutionState) => void
): EvolutionState => {
  let state = begin([member(0), member(1), member(2)])
  for (const [index, now] of units.entries()) {
    const held = schedule(one, now.isPaused)
    const take = (event: EvolutionEvent) => {
      const after = apply(held, state, event)
      watch(state, event, after)
      state = after
    }
    const settle = () => {
      for (let event = decide(context(one, state), state); event !== null; event = decide(context(one, state), state))
        take(event)
      state = rest(state)
    }
    state = endUnit(held, observe(averaging, state, index + 1, groupsOf(state, now)))
    settle()
    // What a proposer and the rollouts of a verification bring, as long as the evolution waits for them.
    while (state.evolution !== null && pending(state) !== "Proposed") {
      const { evolution } = state
      const { round, stage, step } = evolution
      if (stage._tag === "Verifying")
        take({
          _tag: "CandidatesVerified",
          step,
          round,
          questions: Array.from({ length: one.questions }, (_, at) => QuestionId.make(`v${at}`)),
          candidates: stage.candidates.map((_, place) => now.rewards.slice(place, place + one.questions)),
          parent: now.rewards.slice(0, one.questions)
        })
      else if (now.isSkipped && round === 1) take({ _tag: "EvolutionSkipped", step, reason: "none" })
      else
        take({
          _tag: "CandidatesProposed",
          step,
          round,
          parent: evolution.parents[0] ?? seed,
          candidates: Array.from({ length: now.proposed }, (_, at) => ({ text: `${index}.${at}`, rationale: "" })),
          reflected: []
        })
      if (now.isPaused) break
      settle()
    }
  }
  return state
}

const lives = [led, fc.array(unit, { minLength: 1, maxLength: 25 })] as const

describe("evolution", () => {
  it("keeps its population within its places, its parents and the protected, and every id once", () => {
    fc.assert(
      fc.property(...lives, (one, units) => {
        live(one, units, (before, event, after) => {
          const { members } = after.population
          const ids = Population.ids(after.population)
          assert.isAtLeast(members.length, Math.min(one.parents, before.population.members.length))
          assert.isAtMost(members.length, Math.max(one.size, before.population.members.length))
          if (event._tag === "PopulationRefilled") assert.isAtMost(members.length, one.size)
          assert.strictEqual(new Set(ids).size, ids.length)
          assert.isAtLeast(after.born, members.length)
          for (const id of after.newcomers) assert.include(ids, id)
          if (one.protectsSeed) assert.include(ids, seed)
          for (const parent of after.evolution?.parents ?? []) assert.include(ids, parent)
        })
      }),
      { numRuns: 300 }
    )
  })

  it("decides only what is due, and refuses events that it does not wait for", () => {
    fc.assert(
      fc.property(...lives, (one, units) => {
        const seen: Array<EvolutionEvent> = []
        live(one, units, (before, event) => {
          assert.isTrue(isPending(before, event), `${event._tag} while ${pending(before)} is pending`)
          seen.push(event)
          for (const other of seen)
            if (other._tag === "CandidatesProposed" && before.evolution?.stage._tag !== "Proposing")
              assert.throws(() => apply(schedule(one, false), before, other), UnexpectedEvent)
        })
      }),
      { numRuns: 100 }
    )
  })

  it("begins one evolution at a time, and decides nothing about instructions while it is paused", () => {
    fc.assert(
      fc.property(...lives, (one, units) => {
        live(
          one,
          units.map((now) => ({ ...now, isPaused: true })),
          (_, event) => assert.fail(event._tag)
        )
        live(one, units, (before, event) => {
          if (event._tag === "ParentsChosen") assert.isNull(before.evolution)
        })
      }),
      { numRuns: 100 }
    )
  })

  it("folds stored events to the same state", () => {
    fc.assert(
      fc.property(...lives, (one, units) => {
        live(one, units, (before, event, after) => {
          const stored = Schema.decodeUnknownSync(Event)(JSON.parse(JSON.stringify(Schema.encodeSync(Event)(event))))
          // What is paused changes which decisions follow, and a unit is paused or not as a whole.
          assert.deepEqual(apply(schedule(one, false), before, stored).population, after.population)
        })
      }),
      { numRuns: 50 }
    )
  })

  it("ignores evidence of instructions that are not members, and the order of groups", () => {
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 6 }), fc.boolean(), (units, isReversed) => {
        let [one, other] = [begin([member(0), member(1)]), begin([member(0), member(1)])]
        for (const [index, now] of units.entries()) {
          const groups = groupsOf(one, now)
          const stranger = { ...(groups[0] ?? assert.fail("a group")), instruction: instructionId(9), rewards: [1] }
          one = observe(averaging, one, index + 1, groups)
          other = observe(averaging, other, index + 1, [...(isReversed ? groups.toReversed() : groups), stranger])
        }
        // The comparison adds in the order of groups.
        assert.deepEqual(other.population.members, one.population.members)
        if (!isReversed) assert.deepEqual(other, one)
      })
    )
  })

  it("by evidence, adds no more than the last newcomers earned, and keeps the incumbent and the seed", () => {
    fc.assert(
      fc.property(...lives, (some, units) => {
        const one: Led = { ...some, rule: "evidence" }
        live(one, units, (before, event, after) => {
          const { comparison, members } = before.population
          const incumbent = members[comparison.incumbent]?.instruction.id ?? seed
          const ids = Population.ids(after.population)
          if (event._tag !== "PopulationRefilled") return
          assert.include(ids, incumbent)
          const { entrants } = before
          const most =
            entrants === null
              ? 4
              : entrants.ids.includes(incumbent)
                ? 2 * entrants.places
                : Math.max(1, Math.floor(entrants.places / 2))
          assert.isAtMost(event.accepted.length + event.shortfall, most)
          assert.deepEqual(after.entrants, {
            places: event.accepted.length + event.shortfall,
            ids: event.accepted.map(({ instruction }) => instruction.id)
          })
          // No one makes room without need.
          if (event.replaced.length > 0)
            assert.strictEqual(members.length - event.replaced.length + event.accepted.length, one.size)
        })
      }),
      { numRuns: 300 }
    )
  })

  it("begins windows again after an evolution only where the schedule says so", () => {
    fc.assert(
      fc.property(...lives, (one, units) => {
        live(one, units, (before, event, after) => {
          if (event._tag !== "PopulationRefilled") return
          const known = new Map(before.population.members.map(({ instruction, window }) => [instruction.id, window]))
          for (const { instruction, window } of after.population.members)
            assert.deepEqual(window, one.resetsWindows ? [] : (known.get(instruction.id) ?? []))
        })
      }),
      { numRuns: 100 }
    )
  })

  it("offers a round the places that earlier rounds left", () => {
    fc.assert(
      fc.property(led, fc.integer({ min: 0, max: 3 }), (some, accepted) => {
        const one: Led = { ...some, rule: "bottom-half", questions: 1 }
        const offered: Array<number> = []
        const base = context(one, begin([member(0), member(1)]))
        const verification: Verification.Strategy = {
          ...Verification.rerunParent({ rounds: 9, fill: false }),
          needsRound: ({ places, verified }) => {
            offered.push(places - verified.filter((other) => other.accepted).length)
            return false
          }
        }
        const verdict = { accepted: true, reason: "not-worse", score: 0, mean: 0, parentMean: 0, questions: 1 } as const
        const candidate = { text: "candidate", rationale: "" }
        const state: EvolutionState = {
          ...begin([member(0), member(1)]),
          due: "Judge",
          evolution: {
            step: 1,
            round: 2,
            parents: [seed],
            verified: Array.from({ length: accepted }, () => ({
              ...verdict,
              wins: 0,
              losses: 0,
              candidate,
              parent: seed
            })),
            stage: {
              _tag: "Verifying",
              parent: seed,
              candidates: [candidate],
              reflected: [],
              scores: { questions: [QuestionId.make("v0")], candidates: [[0]], parent: [1] }
            }
          }
        }
        decide({ ...base, strategies: { ...base.strategies, verification } }, state)
        assert.deepEqual(offered, [one.size - 1 - accepted])
      }),
      { numRuns: 50 }
    )
  })
})
