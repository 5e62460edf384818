import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { PopulationEvent, Replay } from "@inspo/cohorts"
import { Schema } from "effect"
import * as LogOfAllTypes from "./support/LogOfAllTypes.ts"

const decode = Schema.decodeUnknownSync(Schema.Array(PopulationEvent))

describe("logs as released versions wrote them", () => {
  const fixtures = LogOfAllTypes.read()

  it("are kept for each version of the changelog, the newest with every type of event", () => {
    const changelog = readFileSync(new URL("../../../CHANGELOG.md", import.meta.url), "utf8")
    assert.sameMembers(
      fixtures.map(({ release }) => release),
      Array.from(changelog.matchAll(/^## (\d+\.\d+\.\d+)/gmu), ([, version = ""]) => version),
      "write a fixture with test/support/LogOfAllTypes.ts"
    )
    // Candidates are verified in runs alone.
    const types = PopulationEvent.members
      .map(({ fields }) => fields._tag.ast.literal)
      .filter((type) => type !== "CandidatesVerified")
    assert.deepStrictEqual(
      LogOfAllTypes.typesIn((fixtures.at(-1)?.logs ?? []).map(({ events }) => decode(events))),
      types.map(String).toSorted()
    )
  })

  it("are read, decided again without a difference, and lead to what they led to", () => {
    for (const { logs } of fixtures)
      for (const { events, learning } of logs) {
        const log = decode(events)
        assert.isNull(Replay.replay(log).difference)
        assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(LogOfAllTypes.learningOf(log))), learning)
      }
  })
})
