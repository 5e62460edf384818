/** The invariants of evolution. */
import { Law } from "@inspo/domain/testing"
import { Population } from "@inspo/population"
import { Schema } from "effect"
import { apply, isPending, pending } from "../Apply.ts"
import { chooseParents, decide } from "../Decide.ts"
import { EvolutionEvent } from "../Event.ts"
import * as Lives from "./Lives.ts"

/**
 * The invariants of evolution under the strategies of a host: whole lives of a population are played, with any rewards,
 * proposals and pauses. Laws of one strategy alone are `RemovalLaws` and `AdmissionLaws` of
 * `@inspo/successive-halving/testing` and `VerificationLaws` of `@inspo/verification/testing`.
 */
export const laws = (host: Lives.Host, options?: Law.Options): ReadonlyArray<Law.Law> => {
  const always: Always = (name, watchOf) =>
    Law.forAll(name, Lives.lives, options, (life) => {
      Lives.live(host, life, watchOf(life))
    })
  return [
    always("an evolution ends, and nothing is thrown", () => () => undefined),
    ...memberLaws(host, always),
    ...orderLaws(host, always),
    Law.forAll("equal states are decided on alike, and equal lives have equal events", Lives.lives, options, (life) =>
      Law.same(eventsOf(host, life), eventsOf(host, life), "the events of the same life")
    )
  ]
}

/** A law about every event of every life. */
type Always = (name: string, watchOf: (life: Lives.Life) => (moment: Lives.Moment) => void) => Law.Law

/** The events of a life, each decided on again. */
const eventsOf = (host: Lives.Host, life: Lives.Life) => {
  const events: Array<EvolutionEvent> = []
  const state = Lives.live(host, life, ({ before, event }) => {
    events.push(event)
    const decision = (host.kernel?.decide ?? decide)(Lives.contextOf(host, life, before), before)
    if (decision !== null) Law.same(decision, event, "what is decided on the same state")
  })
  return { events, state }
}

const memberLaws = (host: Lives.Host, always: Always): ReadonlyArray<Law.Law> => [
  always("an instruction has an id of its own, which none gets again", () => {
    const known = new Set(["i0", "i1", "i2"])
    return ({ after, before, event }) => {
      const ids = Population.ids(after.population)
      Law.same(ids, [...new Set(ids)], "the ids")
      Law.expect(after.born >= ids.length, `${ids.length} members, and only ${after.born} were born`)
      const present = new Set(Population.ids(before.population))
      for (const id of ids) {
        Law.expect(present.has(id) || !known.has(id), `${id} is given again by ${event._tag}`)
        known.add(id)
      }
    }
  }),

  always(
    "a population keeps as many members as it has parents, and no more than its places",
    () =>
      ({ after, before, event }) => {
        const [size, were] = [after.population.members.length, before.population.members.length]
        Law.expect(
          size >= Math.min(host.parents, were),
          `${event._tag} leaves ${size} members of ${were}, expected ${host.parents}`
        )
        Law.expect(
          size <= Math.max(host.size, were),
          `${event._tag} leads to ${size} members, expected at most ${host.size}`
        )
        if (event._tag === "PopulationRefilled")
          Law.expect(size <= host.size, `${size} members for ${host.size} places`)
      }
  ),

  always("protected instructions, and the parents of an evolution, stay", ({ protectsSeed }) => ({ after, event }) => {
    const ids = Population.ids(after.population)
    for (const id of [...(protectsSeed ? [Lives.seed] : []), ...(after.evolution?.parents ?? [])])
      Law.expect(ids.includes(id), `${id} is removed by ${event._tag}`)
  }),

  always("the best is not pruned", (life) => ({ before, event }) => {
    if (event._tag !== "Pruned") return
    const [best] = chooseParents(Lives.contextOf(host, life, before), before).parents
    Law.expect(
      event.pruned.every(({ id }) => id !== best),
      `${best} is the first parent, and pruned`
    )
  }),

  always("who joins is the child of a member, one generation on", () => ({ before, event }) => {
    if (event._tag !== "PopulationRefilled") return
    const members = new Map(before.population.members.map(({ instruction }) => [instruction.id, instruction]))
    for (const { instruction } of event.accepted) {
      const { bornAt, generation, id, parent } = instruction
      const from = parent === null ? undefined : members.get(parent)
      Law.expect(from !== undefined, `the parent of ${id} is ${parent}, which is no member`)
      Law.same([generation, bornAt], [from.generation + 1, event.step], `generation and birth of ${id}`)
    }
  })
]

const orderLaws = (host: Lives.Host, always: Always): ReadonlyArray<Law.Law> => [
  always(
    "an event is one that evolution waits for",
    () =>
      ({ before, event }) =>
        Law.expect(isPending(before, event), `${event._tag} while ${pending(before)} is pending`)
  ),

  always(
    "no evolution begins within another, and nothing is decided while evolution is paused",
    () =>
      ({ before, event, isPaused }) => {
        const begins = event._tag === "Pruned" || event._tag === "ParentsChosen"
        Law.expect(!(begins && isPaused), `${event._tag} in a unit that is paused`)
        Law.expect(event._tag !== "ParentsChosen" || before.evolution === null, "a second evolution begins")
      }
  ),

  always(
    "an event is stored as JSON, and leads to the same state again",
    (life) =>
      ({ after, before, event, isPaused }) => {
        const stored: unknown = JSON.parse(JSON.stringify(encode(event)))
        const fold = host.kernel?.apply ?? apply
        Law.same(
          fold(Lives.scheduleOf(host, life, isPaused), before, decode(stored)),
          after,
          `the state after ${event._tag}`
        )
      }
  )
]

const encode = Schema.encodeSync(EvolutionEvent)
const decode = Schema.decodeUnknownSync(EvolutionEvent)
