import { assert, describe, it } from "@effect/vitest"
import { type PopulationEvent, Summary } from "@inspo/cohorts"
import * as fc from "fast-check"
import { eventful, Life, step } from "../../../../packages/cohorts/test/support/Life.ts"
import { append, empty, membersOf, type PopulationLog } from "../../src/served/PopulationLog.ts"

const logOf = (events: ReadonlyArray<PopulationEvent>): PopulationLog =>
  events
    .flatMap((event) => Summary.summarize(event) ?? [])
    .reduce((log, event) => append(log, event, "2026-01-01T00:00:00.000Z"), empty)

/** Long enough to prune. */
const longLife = (): Life => {
  const life = new Life(eventful("trainer"))
  for (let round = 1; round <= 40; round++) life.train(30, 1, round)
  return life
}

describe("PopulationLog", () => {
  it("has a reason for each removed member, and no candidates that never entered", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("online", "trainer"),
        fc.array(step, { minLength: 1, maxLength: 40 }),
        (profile, steps) => {
          const life = new Life(eventful(profile))
          for (const [index, one] of steps.entries()) life.take(one, index + 1)
          const members = [...membersOf(logOf(life.log)).values()]
          for (const { id } of members) assert.match(id, /^i\d+$/u)
          assert.deepStrictEqual(
            members.flatMap(({ id, left }) => (left === null ? [id] : [])).toSorted(),
            life.state.learning.population.members.map(({ instruction }) => instruction.id).toSorted()
          )
          for (const { left } of members) if (left !== null) assert.notStrictEqual(left.why, "")
        }
      ),
      { numRuns: 60 }
    )
  })

  it("states the figures of each pruning", () => {
    const life = longLife()
    const pruned = [...membersOf(logOf(life.log)).values()].filter(({ left }) => left?.how === "pruned")
    assert.isNotEmpty(pruned)
    for (const { left } of pruned) {
      assert.match(
        left?.why ?? "",
        /^not the best of the population, with certainty \d+\.\d %; value [\d.]+, against [\d.]+ of i1 “variant”$/u
      )
    }
  })

  it("gives a reason for each decision of a rule, and names each instruction by what distinguishes it", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(
        fc.constantFrom("online", "trainer"),
        fc.array(step, { minLength: 1, maxLength: 40 }),
        (profile, steps) => {
          const life = new Life(eventful(profile))
          for (const [index, one] of steps.entries()) life.take(one, index + 1)
          const { lines, naming } = logOf(life.log)
          for (const { by, text, why } of lines) {
            seen.add(`${by} ${text.replaceAll(/“[^”]*”|[\d.]+/gu, "")}`)
            if (by === "rule") assert.isNotEmpty(why ?? "", text)
            // The reasons of a proposer are its own words.
            for (const part of [text, text.includes("proposed from") ? "" : (why ?? "")])
              for (const [id] of part
                .replaceAll(/“.*?”/gsu, (name) => name.replaceAll(/i(?=\d)/gu, ""))
                .matchAll(/\bi\d+\b(?! [“(])/gu))
                assert.fail(`${id} has no name in: ${part}`)
          }
          for (const { instruction } of life.state.learning.population.members)
            assert.isTrue(naming.names.has(instruction.id))
        }
      ),
      { numRuns: 60 }
    )
    for (const kind of ["was pruned", "entered", "was retired", "was added", "was pinned", "Evolution started"])
      assert.isTrue(
        [...seen].some((text) => text.includes(kind)),
        kind
      )
  })

  it("distinguishes a scheduled evolution from one that a person started", () => {
    const life = new Life(eventful("trainer"))
    life.take({ kind: "evolve" }, 1)
    life.take({ kind: "skip" }, 2)
    for (let round = 3; round <= 5; round++) life.train(6, 1, round)
    const started = logOf(life.log).lines.filter(({ text }) => text.startsWith("Evolution started"))
    assert.deepStrictEqual(
      started.map(({ by }) => by),
      ["hand", "rule"]
    )
    assert.match(started[1]?.why ?? "", /^due after cohort 3; ranked first/u)
  })

  it("never states more certainty than there was", () => {
    const life = longLife()
    fc.assert(
      fc.property(fc.double({ min: 0.9, max: 1 - 2 ** -53, noNaN: true }), (certainty) => {
        const log = life.log.map((event) =>
          event._tag === "Pruned" ? { ...event, pruned: event.pruned.map((one) => ({ ...one, certainty })) } : event
        )
        const stated = [...membersOf(logOf(log)).values()].flatMap(({ left }) =>
          left?.how === "pruned" ? [Number(/certainty (\d+\.\d) %/u.exec(left.why)?.[1])] : []
        )
        assert.isNotEmpty(stated)
        for (const percent of stated) assert.isAtMost(percent / 100, certainty)
      })
    )
  })
})
