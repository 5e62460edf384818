import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Law } from "@inspo/domain/testing"
import { Sampler } from "@inspo/sampler"
import { SamplerLaws } from "@inspo/sampler/testing"
import { Effect } from "effect"

const sharings: ReadonlyArray<Sampler.Sharing | undefined> = [
  undefined,
  { _tag: "Groups", instructionsPerQuestion: 3 },
  { _tag: "Samples", samples: 4 }
]

for (const rule of Sampler.Rule.literals)
  for (const assignment of ["independent", "stratified"] as const)
    for (const sharing of sharings)
      describe(`${rule}, ${assignment}, ${sharing?._tag ?? "one draw each"}`, () => {
        const sampler = Sampler.make({
          rule,
          temperature: 0.2,
          assignment,
          ...(sharing === undefined ? {} : { sharing })
        })
        for (const { check, name } of SamplerLaws.laws(sampler)) it.effect(name, () => check)
      })

type Strategy = Pick<Sampler.Interface, "assign" | "probabilities">
const right: Strategy = Sampler.make({ rule: "softmax", temperature: 0.2, assignment: "independent" })

/** For each law a sampler that breaks it, and no other. */
const bugs: Readonly<Record<string, Strategy>> = {
  "shares are in [0, 1], one for each instruction, and sum to 1": {
    ...right,
    probabilities: (values) => right.probabilities(values).map((share) => 0.999 * share)
  },
  "a share belongs to its instruction, whatever the order of values": {
    ...right,
    probabilities: (values) =>
      right.probabilities(values).map((share, place) => (1 - 1e-6) * share + (place === 0 ? 1e-6 : 0))
  },
  "each question has a list of draws from the given instructions, empty without any": {
    ...right,
    assign: (request) =>
      request.values.length > 0
        ? right.assign(request)
        : request.questions.map(() => [Instruction.InstructionId.make("i0")])
  },
  "the number of draws depends on the questions alone": {
    ...right,
    assign: (request) =>
      right.assign(request).map((drawn) => (request.values.length > 1 ? [...drawn, ...drawn] : drawn))
  },
  "equal requests have equal draws, whatever the order of values": {
    ...right,
    assign: (request) => right.assign({ ...request, seed: request.seed + (request.values[0]?.id === "i0" ? 0 : 1) })
  },
  "instructions are drawn as often as their shares say": {
    ...right,
    assign: (request) => right.assign({ ...request, values: request.values.map((one) => ({ ...one, value: 0 })) })
  }
}

describe("the laws of a sampler find a planted bug", { tags: "deep" }, () => {
  it.effect.each(SamplerLaws.laws(right).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(SamplerLaws.laws(bug))).map(({ law }) => law),
        [name]
      )
    })
  )
})
