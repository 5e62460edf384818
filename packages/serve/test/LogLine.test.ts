import { assert, describe, it } from "@effect/vitest"
import type { PopulationEvent } from "@inspo/cohorts"
import { Instruction, Question } from "@inspo/domain"
import { line } from "../src/live/internal/LogLine.ts"

const [i0, i1] = [Instruction.InstructionId.make("i0"), Instruction.InstructionId.make("i1")]

const events: ReadonlyArray<readonly [level: "Info" | "Debug", event: PopulationEvent, part: string]> = [
  [
    "Debug",
    {
      _tag: "Leased",
      cohort: "c",
      leases: [
        {
          lease: "0/c/private",
          key: "private",
          n: 1,
          instruction: i0,
          probability: 1,
          unit: "private",
          isSticky: true,
          stratum: "private",
          question: Question.QuestionId.make("private")
        }
      ]
    },
    '"instructions":"i0"'
  ],
  ["Debug", { _tag: "Rewarded", cohort: "c", rewards: [{ key: "private", sample: 0, value: 1 }] }, '"rewards":1'],
  [
    "Info",
    {
      _tag: "Closed",
      cohort: "c",
      index: 1,
      units: [
        {
          instruction: i0,
          rewards: [1, 0],
          missing: 3,
          stratum: "private",
          question: Question.QuestionId.make("private")
        }
      ]
    },
    '"rewards":2,"missing":3'
  ],
  [
    "Info",
    { _tag: "Pruned", step: 1, pruned: [{ id: i1, value: 0, reason: "worse" }], kept: [i0] },
    '"pruned":"i1: worse","kept":"i0"'
  ],
  [
    "Info",
    {
      _tag: "CandidatesProposed",
      step: 1,
      round: 1,
      parent: i0,
      candidates: [{ text: "private", rationale: "private" }],
      reflected: [Question.QuestionId.make("private")]
    },
    '"parent":"i0","candidates":1'
  ],
  ["Info", { _tag: "EvolutionSkipped", step: 1, reason: "no proposer" }, "no proposer"],
  [
    "Info",
    { _tag: "PopulationRefilled", step: 1, parents: [i0], replaced: [], accepted: [], shortfall: 1 },
    '"accepted":"none"'
  ]
]

describe("the log of a server", () => {
  for (const [level, event, part] of events)
    it(`says at ${level} that ${event._tag} happened, without keys, questions and texts`, () => {
      const logged = line(event)
      assert.strictEqual(logged.level, level)
      assert.include(JSON.stringify(logged.about), part)
      assert.notInclude(JSON.stringify(logged), "private")
    })
})
