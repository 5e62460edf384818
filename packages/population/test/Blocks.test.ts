import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Blocks } from "@inspo/population"
import { Schema } from "effect"

const members = 4
const id = (index: number) => Instruction.InstructionId.make(`i${index}`)
const Member = Schema.Literals([0, 1, 2, 3])

/** One sample each, so that a weight says of how many groups it is. */
const Unit = Schema.Array(
  Schema.Struct({
    member: Member,
    question: Schema.NullOr(Schema.Literals(["p", "q", "r"])),
    stratum: Schema.Literals(["a", "b"]),
    reward: Schema.Literals([0, 0.25, 1]),
    isMissing: Schema.Boolean
  })
).check(Schema.isMaxLength(9))
const Units = Schema.Array(Unit).check(Schema.isMaxLength(8))

const toGroups = (unit: typeof Unit.Type): ReadonlyArray<Blocks.Scored> =>
  unit.map(({ isMissing, member, question, reward, stratum }) => ({
    instruction: id(member),
    question,
    stratum,
    samples: 1,
    low: isMissing ? 0 : reward,
    high: isMissing ? 1 : reward
  }))

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, one) => total + one, 0)

/** Of how many groups of one sample each cell is: variance 0.1 + 1 on a question, and 0.36 more between questions. */
const groupsIn = (block: Blocks.Block, isQuestion: boolean) =>
  block.map(({ weight }) => weight * (isQuestion ? 1.1 : 1.46))

/** All groups of a history with one question each, and what became of them. */
const arrangeAll = (units: typeof Units.Type) => {
  let waiting: ReadonlyArray<Blocks.Waiting> = []
  const blocks: Array<Blocks.Block> = []
  for (const unit of units) {
    const arranged = Blocks.arrange(toGroups(unit), waiting, members)
    waiting = arranged.waiting
    blocks.push(...arranged.blocks)
  }
  return { blocks, waiting }
}

describe("arrange", () => {
  it.prop("has cells of two instructions or more in every block, each instruction once", [Units], ([units]) => {
    for (const block of arrangeAll(units).blocks) {
      const instructions = block.map(({ instruction }) => instruction)
      assert.isAtLeast(instructions.length, 2)
      assert.strictEqual(new Set(instructions).size, instructions.length)
      for (const { high, low, weight } of block) assert.isTrue(0 <= low && low <= high && high <= 1 && weight > 0)
    }
  })

  it.prop("puts every group into exactly one block, or lets it wait", [Units], ([units]) => {
    // No two groups of a unit share a question, and so few wait that none fades.
    const few = units.slice(0, 2).map((unit) => unit.slice(0, 4).map((group) => ({ ...group, question: null })))
    const { blocks, waiting } = arrangeAll(few)
    for (const member of [0, 1, 2, 3]) {
      const own = few.flat().filter((group) => group.member === member)
      const cells = blocks.flatMap((block) =>
        block.flatMap((cell, place) =>
          cell.instruction === id(member) ? [{ ...cell, groups: groupsIn(block, false)[place] ?? NaN }] : []
        )
      )
      const waits = waiting.filter(({ instruction }) => instruction === id(member))
      assert.approximately(sum([...cells, ...waits].map(({ groups }) => groups)), own.length, 1e-9)
      for (const [bound, missing] of [
        ["low", 0],
        ["high", 1]
      ] as const)
        assert.approximately(
          sum(cells.map((cell) => cell.groups * cell[bound])) + sum(waits.map((wait) => wait[bound])),
          sum(own.map(({ isMissing, reward }) => (isMissing ? missing : reward))),
          1e-9
        )
    }
  })

  it.prop("compares what is on the same question there alone", [Unit], ([unit]) => {
    const asked = unit.filter(({ question }) => question !== null)
    const shared = [...Map.groupBy(asked, ({ question }) => question).values()].filter(
      (own) => new Set(own.map(({ member }) => member)).size > 1
    )
    const { blocks } = Blocks.arrange(toGroups(unit), [], members)
    for (const own of shared) {
      const cells = [...Map.groupBy(own, ({ member }) => member)].map(([member, groups]) => ({
        instruction: id(member),
        weight: 1 / (0.1 + 1 / groups.length),
        low: sum(groups.map(({ isMissing, reward }) => (isMissing ? 0 : reward))) / groups.length,
        high: sum(groups.map(({ isMissing, reward }) => (isMissing ? 1 : reward))) / groups.length
      }))
      assert.deepInclude(blocks, cells)
    }
  })

  it.prop("compares groups of a stratum before those of different strata", [Unit], ([unit]) => {
    const alone = unit.map((group) => ({ ...group, question: null }))
    const strata = [...Map.groupBy(alone, ({ stratum }) => stratum).values()]
    const isMixed = strata.map((own) => new Set(own.map(({ member }) => member)).size > 1)
    const { blocks } = Blocks.arrange(toGroups(alone), [], members)
    const within = strata
      .filter((_, at) => isMixed[at])
      .flatMap((own) => Blocks.arrange(toGroups(own), [], members).blocks)
    assert.deepStrictEqual(blocks.slice(0, within.length), within)
  })

  it.prop("lets no more than eight groups of an instruction wait", [Schema.Array(Member)], ([order]) => {
    let waiting: ReadonlyArray<Blocks.Waiting> = []
    for (const member of [...order, ...Array.from({ length: 30 }, () => 0 as const)]) {
      const unit = toGroups([{ member, question: null, stratum: "a", reward: 1, isMissing: false }])
      waiting = Blocks.arrange(unit, waiting, members).waiting
      for (const { groups, low, samples } of waiting) {
        assert.isAtMost(groups, 8 + 1e-9)
        // Older groups fade as a whole.
        assert.approximately(low, groups, 1e-9)
        assert.approximately(samples, groups, 1e-9)
      }
    }
  })

  it.prop(
    "with one group a unit, a block follows within as many units as there are members",
    [Schema.Array(Member)],
    ([order]) => {
      let waiting: ReadonlyArray<Blocks.Waiting> = []
      let units = 0
      const met = new Set<number>()
      for (const member of order) {
        const unit = toGroups([{ member, question: null, stratum: "a", reward: 1, isMissing: false }])
        const arranged = Blocks.arrange(unit, waiting, members)
        waiting = arranged.waiting
        units += 1
        met.add(member)
        assert.strictEqual(arranged.blocks.length > 0, met.size > 1 && units >= members)
        if (arranged.blocks.length === 0) continue
        assert.lengthOf(arranged.waiting, 0)
        units = 0
        met.clear()
      }
    }
  )
})
