import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { decide, endUnit, type EventOf, type EvolutionState, instructionId, type Strategies } from "@inspo/evolution"
import { EvolutionLaws, type Lives } from "@inspo/evolution/testing"
import { Population } from "@inspo/population"
import { Admission, EvidencePruning, Removal } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Effect } from "effect"

const hosts = [1, 2].flatMap((parents) =>
  [
    { removal: Removal.bottomHalf({ parents }), admission: Admission.allOthers() },
    { removal: Removal.fixedHalf({ parents, size: 5 }), admission: Admission.allOthers() },
    { removal: EvidencePruning.removal({ delta: 0.9, parents }), admission: EvidencePruning.admission({ delta: 0.9 }) }
  ].flatMap(({ admission, removal }) =>
    [
      Verification.untried({ rounds: 2, fill: false }),
      Verification.rerunParent({ rounds: 2, fill: true }),
      Verification.storedBaseline({ rounds: 1, fill: false })
    ].map((verification) => ({
      strategies: {
        valuation: removal.identity.name === "evidence" ? Population.compare : Population.recentSteps({ window: 3 }),
        removal,
        admission,
        verification
      },
      parents,
      size: 2 + parents,
      asks: verification.identity.name !== "untried"
    }))
  )
)

describe.each(
  hosts.map(
    (host) =>
      [host.strategies.removal.identity.name, host.strategies.verification.identity.name, host.parents, host] as const
  )
)("%s and %s, parents: %d", (_, __, ___, host) => {
  for (const { check, name } of EvolutionLaws.laws(host, { runs: 40 })) it.effect(name, () => check)
})

const right: Strategies.Strategies = {
  valuation: Population.recentSteps({ window: 3 }),
  removal: Removal.bottomHalf({ parents: 2 }),
  admission: Admission.allOthers(),
  verification: Verification.rerunParent({ rounds: 2, fill: false })
}
const one = Removal.fixedHalf({ parents: 1, size: 10 })

const removal = (changed: Partial<Strategies.Strategies["removal"]>): Partial<Lives.Host> => ({
  strategies: { ...right, removal: { ...right.removal, ...changed } }
})
const verification = (changed: Partial<Strategies.Strategies["verification"]>): Partial<Lives.Host> => ({
  strategies: { ...right, verification: { ...right.verification, ...changed } }
})
/** Changes the decision about who joins. */
const refilling = (
  change: (event: EventOf<"PopulationRefilled">, state: EvolutionState) => EventOf<"PopulationRefilled">["accepted"]
): Partial<Lives.Host> => ({
  kernel: {
    decide: (context, state) => {
      const event = decide(context, state)
      return event?._tag === "PopulationRefilled" ? { ...event, accepted: change(event, state) } : event
    }
  }
})

/** For each law a strategy, or a host, that breaks it, and no other. */
const bugs: Readonly<Record<string, () => Partial<Lives.Host>>> = {
  "an evolution ends, and nothing is thrown": () => verification({ needsRound: () => true }),
  "an instruction has an id of its own, which none gets again": () =>
    refilling(({ accepted }, { born, population }) => {
      const present = new Set<string>(Population.ids(population))
      const free = Array.from({ length: born + accepted.length }, (_, index) => instructionId(index)).filter(
        (id) => !present.has(id)
      )
      return accepted.map((one, place) => ({
        ...one,
        instruction: { ...one.instruction, id: free[place] ?? one.instruction.id }
      }))
    }),
  "a population keeps as many members as it has parents, and no more than its places": () =>
    removal({ prune: one.prune }),
  "protected instructions, and the parents of an evolution, stay": () =>
    removal({ prune: (population, values) => right.removal.prune(population, values) }),
  "the best is not pruned": () =>
    removal({
      prune: (population, values, chosen) =>
        right.removal.prune(
          population,
          values.map(({ value, ...rest }) => ({ ...rest, value: -value })),
          chosen
        )
    }),
  "who joins is the child of a member, one generation on": () =>
    refilling(({ accepted }) =>
      accepted.map((one) => ({ ...one, instruction: { ...one.instruction, generation: 0 } }))
    ),
  "an event is one that evolution waits for": () => ({
    kernel: {
      decide: (context, state) =>
        decide(context, state.due === "Prune" && state.evolution === null ? { ...state, due: "ChooseParents" } : state)
    }
  }),
  "no evolution begins within another, and nothing is decided while evolution is paused": () => ({
    kernel: { endUnit: (schedule, state) => endUnit({ ...schedule, isPaused: false }, state) }
  }),
  "equal states are decided on alike, and equal lives have equal events": () => {
    let asked = 0
    return {
      strategies: { ...right, admission: { ...right.admission, bounds: () => ({ kept: [], newcomers: asked++ % 3 }) } }
    }
  },
  "an event is stored as JSON, and leads to the same state again": () =>
    verification({
      judge: (evidence) => right.verification.judge(evidence).map((verdict) => ({ ...verdict, score: Infinity }))
    })
}

describe("the laws of evolution find a planted bug", { tags: "deep" }, () => {
  it.effect.each(EvolutionLaws.laws({ strategies: right, parents: 2, size: 5 }).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      const laws = EvolutionLaws.laws({ strategies: right, parents: 2, size: 5, ...bug() })
      const found = (yield* Law.broken(laws)).map(({ law }) => law)
      // Without an end no life shows anything else.
      assert.deepStrictEqual(name === "an evolution ends, and nothing is thrown" ? found.slice(0, 1) : found, [name])
    })
  )
})
