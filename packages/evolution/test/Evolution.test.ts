import { assert, describe, it } from "@effect/vitest"
import { Question } from "@inspo/domain"
import {
  apply,
  begin,
  decide,
  endUnit,
  type EvolutionEvent,
  type EvolutionState,
  instructionId,
  observe,
  rest,
  UnexpectedEvent
} from "@inspo/evolution"
import { Lives } from "@inspo/evolution/testing"
import { Population } from "@inspo/population"
import { Populations } from "@inspo/population/testing"
import { Admission, EvidencePruning, Removal } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Schema } from "effect"

/** How a population is led. */
const Led = Schema.Struct({
  parents: Schema.Literals([1, 2]),
  size: Schema.Literals([3, 4, 5]),
  rule: Schema.Literals(["evidence", "bottom-half"]),
  rounds: Schema.Literals([1, 2]),
  asks: Schema.Boolean
})

const hostOf = ({ asks, parents, rounds, rule, size }: typeof Led.Type): Lives.Host => ({
  strategies: {
    valuation: Population.recentSteps({ window: 3 }),
    ...(rule === "evidence"
      ? {
          removal: EvidencePruning.removal({ delta: 0.9, parents }),
          admission: EvidencePruning.admission({ delta: 0.9 })
        }
      : { removal: Removal.bottomHalf({ parents }), admission: Admission.allOthers() }),
    verification: asks
      ? Verification.rerunParent({ rounds, fill: false })
      : Verification.untried({ rounds, fill: false })
  },
  parents,
  size,
  asks
})

/** Besides the laws of every evolution. */
describe("evolution", () => {
  it.prop("refuses a proposal that it does not wait for", [Led, Lives.Life], ([led, life]) => {
    const host = hostOf(led)
    const seen: Array<EvolutionEvent> = []
    Lives.live(host, life, ({ before, event }) => {
      seen.push(event)
      for (const other of seen)
        if (other._tag === "CandidatesProposed" && before.evolution?.stage._tag !== "Proposing")
          assert.throws(() => apply(Lives.scheduleOf(host, life), before, other), UnexpectedEvent)
    })
  })

  it.prop(
    "ignores evidence of instructions that are not members, and the order of groups",
    [Lives.Life, Schema.Boolean],
    ([{ units }, isReversed]) => {
      const start = begin([Populations.instruction(0), Populations.instruction(1)])
      let [one, other] = [start, start]
      for (const [index, unit] of units.slice(0, 6).entries()) {
        const groups = Lives.groupsOf(one, unit)
        const stranger = { ...(groups[0] ?? assert.fail("a group")), instruction: instructionId(9), rewards: [1] }
        one = observe(Lives.valuation, one, index + 1, groups)
        other = observe(Lives.valuation, other, index + 1, [...(isReversed ? groups.toReversed() : groups), stranger])
      }
      // The comparison adds in the order of groups.
      assert.deepEqual(other.population.members, one.population.members)
      if (!isReversed) assert.deepEqual(other, one)
    }
  )

  it.prop(
    "by evidence, adds no more than the last newcomers earned, and keeps the incumbent and the seed",
    [Led, Lives.Life],
    ([led, life]) => {
      Lives.live(hostOf({ ...led, rule: "evidence" }), life, ({ after, before, event }) => {
        const { comparison, members } = before.population
        const incumbent = members[comparison.incumbent]?.instruction.id ?? Lives.seed
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
          assert.strictEqual(members.length - event.replaced.length + event.accepted.length, led.size)
      })
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "searches after the first evolution as long as there are rewards and all are 0",
    [Lives.Life, Schema.Literals([0, 1, 3, 25]), Schema.Boolean, Schema.Boolean],
    ([{ units }, unrewarded, hasEvolved, isPaused]) => {
      const schedule = {
        parents: 1,
        resetsWindows: false,
        isPaused,
        prunes: () => false,
        evolves: (step: number) => step === 2,
        searches: (step: number) => step % 3 !== 0
      }
      let state: EvolutionState = {
        ...begin([Populations.instruction(0), Populations.instruction(1)]),
        entrants: hasEvolved ? { places: 1, ids: [] } : null
      }
      const seen: Array<number> = []
      for (const [index, unit] of units.entries()) {
        const groups = Lives.groupsOf(state, unit).map((group) => ({
          ...group,
          rewards: index < unrewarded ? group.rewards.map(() => 0) : group.rewards
        }))
        seen.push(...groups.flatMap(({ rewards }) => rewards))
        const step = index + 1
        state = endUnit(schedule, observe(Lives.valuation, state, step, groups))
        const isSearching = hasEvolved && step % 3 !== 0 && seen.length > 0 && seen.every((reward) => reward === 0)
        assert.strictEqual(state.due === "ChooseParents", !isPaused && (step === 2 || isSearching))
        state = rest(state)
      }
    }
  )

  it.prop(
    "begins windows again after an evolution only where the schedule says so",
    [Led, Lives.Life],
    ([led, life]) => {
      Lives.live(hostOf(led), life, ({ after, before, event }) => {
        if (event._tag !== "PopulationRefilled") return
        const known = new Map(before.population.members.map(({ instruction, window }) => [instruction.id, window]))
        for (const { instruction, window } of after.population.members)
          assert.deepEqual(window, life.resetsWindows ? [] : (known.get(instruction.id) ?? []))
      })
    }
  )

  it.prop(
    "offers a round the places that earlier rounds left",
    [Led, Schema.Literals([0, 1, 2, 3])],
    ([led, accepted]) => {
      const host = hostOf({ ...led, rule: "bottom-half", asks: true })
      const offered: Array<number> = []
      const verification: Verification.Interface = {
        ...Verification.rerunParent({ rounds: 9, fill: false }),
        needsRound: ({ places, verified }) => {
          offered.push(places - verified.filter((other) => other.accepted).length)
          return false
        }
      }
      const verdict = { accepted: true, reason: "not-worse", score: 0, mean: 0, parentMean: 0, questions: 1 } as const
      const candidate = { text: "candidate", rationale: "" }
      const state: EvolutionState = {
        ...begin([Populations.instruction(0), Populations.instruction(1)]),
        due: "Judge",
        evolution: {
          step: 1,
          round: 2,
          parents: [Lives.seed],
          verified: Array.from({ length: accepted }, () => ({
            ...verdict,
            wins: 0,
            losses: 0,
            candidate,
            parent: Lives.seed
          })),
          stage: {
            _tag: "Verifying",
            parent: Lives.seed,
            candidates: [candidate],
            reflected: [],
            scores: { questions: [Question.QuestionId.make("v0")], candidates: [[0]], parent: [1] }
          }
        }
      }
      const context = Lives.contextOf(host, { protectsSeed: false }, state)
      decide({ ...context, strategies: { ...host.strategies, verification } }, state)
      assert.deepEqual(offered, [led.size - 1 - accepted])
    }
  )
})
