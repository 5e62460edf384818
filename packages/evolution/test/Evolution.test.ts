import { assert, describe, it } from "@effect/vitest"
import type { Instruction, InstructionId } from "@inspo/domain/Instruction"
import {
  apply,
  begin,
  candidateId,
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
import { InstructionValue, Population } from "@inspo/population"
import { AnytimePruning, SuccessiveHalving } from "@inspo/successive-halving"
import { Round, Verification } from "@inspo/verification"
import { Schema } from "effect"
import * as fc from "fast-check"

const averaging: InstructionValue.Averaging = { window: 3, average: "observed", span: "steps" }

/** How a population is led, for as long as it lives. */
interface Led {
  readonly parents: number
  readonly size: number
  readonly rule: "anytime" | "bottom-half"
  readonly isSplit: boolean
  readonly questions: number
  readonly rounds: number
  readonly protectsSeed: boolean
}

const led: fc.Arbitrary<Led> = fc.record({
  parents: fc.integer({ min: 1, max: 2 }),
  size: fc.integer({ min: 3, max: 5 }),
  rule: fc.constantFrom("anytime", "bottom-half"),
  isSplit: fc.boolean(),
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

const schedule = ({ parents }: Led, isPaused: boolean): Schedule.Schedule => ({
  parents,
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
        rule === "anytime" ? AnytimePruning.make({ delta: 0.4, parents }) : SuccessiveHalving.bottomHalf({ parents }),
      verification: Verification.rerunParent({ rounds: one.rounds, fill: false })
    },
    values: valuation.values(state.population),
    settings: { population: { size: one.size }, verification: { samples: one.questions } },
    protectedIds: new Set(one.protectsSeed ? [seed] : []),
    generationOf: () => 0,
    verification: {
      design: { questions: one.questions, interim: null, inlineVerification: true },
      isSplit: one.isSplit,
      isLast: false
    }
  }
}

/** Everyone who may be asked, members first: a group of each. */
const groupsOf = (state: EvolutionState, { missing, rewards }: Unit): ReadonlyArray<Group> => {
  const { evolution } = state
  const tried =
    evolution?.stage._tag === "PairedTrial"
      ? evolution.stage.round.remaining.map((place) => candidateId(evolution, place))
      : []
  return [...Population.ids(state.population), ...tried].flatMap((instruction: InstructionId, at) => {
    const own = { instruction, question: null, stratum: "all", missing: missing[at % 12] ?? 0 }
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
    const { evolution } = state
    if (evolution?.stage._tag !== "Proposing") continue
    const { round, step } = evolution
    if (now.isSkipped && round === 1) take({ _tag: "EvolutionSkipped", step, reason: "none" })
    else
      take({
        _tag: "CandidatesProposed",
        step,
        round,
        parent: evolution.parents[0] ?? seed,
        candidates: Array.from({ length: now.proposed }, (_, at) => ({ text: `${index}.${at}`, rationale: "" })),
        reflected: []
      })
    if (!now.isPaused) settle()
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
          // While candidates share the traffic they are members beside the others.
          const shared = after.evolution?.stage._tag === "TrafficSplit" ? after.evolution.stage.ids.length : 0
          assert.isAtMost(members.length, Math.max(one.size, before.population.members.length) + shared)
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
        assert.deepEqual(other, one)
      })
    )
  })

  it("offers an analysis the places that earlier rounds left", () => {
    fc.assert(
      fc.property(led, fc.integer({ min: 0, max: 3 }), (one, accepted) => {
        const offered: Array<number> = []
        const base = context(one, begin([member(0), member(1)]))
        const verification: Verification.Strategy = {
          ...Verification.rerunParent({ rounds: 9, fill: false }),
          remaining: ({ places }) => {
            offered.push(places)
            return []
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
            stage: { _tag: "PairedTrial", parent: seed, candidates: [candidate], reflected: [], round: Round.begin(1) }
          }
        }
        decide({ ...base, strategies: { ...base.strategies, verification } }, state)
        assert.deepEqual(offered, [one.size - 1 - accepted])
      }),
      { numRuns: 50 }
    )
  })
})
