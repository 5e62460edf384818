import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { mean } from "simple-statistics"
import * as World from "../../src/evolve/World.ts"

const Kind = Schema.Literals(World.worlds.map((_, place) => place))
const Clauses = Schema.Array(Schema.Literals(World.bank.map((_, place) => place)))

const worldAt = (place: number): World.World => World.worlds[place] ?? assert.fail("no such world")
const promptOf = (clauses: ReadonlyArray<number>): string =>
  [World.seedPrompt, ...World.bank.filter((_, place) => clauses.includes(place))].join(" ")

describe("valueOf", () => {
  it.prop(
    "rises by each clause that helps, falls by each that harms, and ignores the others",
    [Kind, Clauses, Schema.Literals(World.bank.map((_, place) => place))],
    ([kind, clauses, added]) => {
      const world = worldAt(kind)
      const own = clauses.filter((clause) => clause !== added)
      const [without, having] = [World.valueOf(world, promptOf(own)), World.valueOf(world, promptOf([...own, added]))]
      const effect = world.effects[added] ?? assert.fail("no such clause")
      // Two clauses can also help each other.
      const isPair = world.pair > 0 && added < 2 && own.includes(1 - added)
      assert.strictEqual(Math.sign(having - without), Math.sign(effect + (isPair ? world.pair : 0)))
    }
  )

  it.prop("is highest for the best prompt", [Kind, Clauses], ([kind, clauses]) => {
    const world = worldAt(kind)
    const most = World.valueOf(world, World.bestOf(world))
    assert.isAtMost(World.valueOf(world, promptOf(clauses)), most)
    // Without headroom it is the prompt that is given.
    assert.strictEqual(most > World.valueOf(world, World.seedPrompt) + 0.1, world.headroom)
  })
})

describe("rare", () => {
  it("succeeds in 2 of 100 cases, and with headroom in 17 where one clause is added", () => {
    const [hopeful, hopeless] = [World.rare(true), World.rare(false)]
    for (const world of [hopeful, hopeless]) assert.approximately(World.valueOf(world, World.seedPrompt), 0.02, 0.001)
    assert.approximately(World.valueOf(hopeful, World.bestOf(hopeful)), 0.17, 0.005)
    assert.strictEqual(World.bestOf(hopeless), World.seedPrompt)
  })
})

describe("open", () => {
  it.prop(
    "has the value as its mean over many cases at the end of the budget",
    [Kind, Clauses],
    ([kind, clauses]) => {
      const world = worldAt(kind)
      const prompt = promptOf(clauses)
      const agent = World.open({ ...world, base: world.base + world.drift, drift: 0 }, 1, kind)
      const share = mean(Arr.makeBy(2000, (id) => (agent.answer(prompt, id).isJudgedRight ? 1 : 0)))
      assert.approximately(share, World.valueOf(world, prompt), 0.05)
    },
    { arbitrary: { runs: 12, seed: 1 } }
  )

  it("drifts over its calls", () => {
    const world = World.worlds.find(({ drift }) => drift < 0) ?? assert.fail("no world drifts")
    const agent = World.open(world, 4000, 1)
    const answers = Arr.makeBy(4000, (id) => (agent.answer(World.seedPrompt, id).isJudgedRight ? 1 : 0))
    assert.isAbove(mean(answers.slice(0, 1000)), mean(answers.slice(3000)) + 0.05)
  })

  it.prop(
    "gives equal answers for equal seeds, and others for another sample or seed",
    [Kind, Clauses, Schema.Int],
    ([kind, clauses, seed]) => {
      const prompt = promptOf(clauses)
      const answers = (own: number) => {
        const agent = World.open(worldAt(kind), 600, own)
        return Arr.makeBy(2, () => Arr.makeBy(150, (id) => agent.answer(prompt, id)))
      }
      const [first, again] = answers(seed)
      assert.deepStrictEqual(answers(seed), [first, again])
      assert.notDeepEqual(again, first)
      assert.notDeepEqual(answers(seed + 1)[0], first)
    },
    { arbitrary: { runs: 10 } }
  )
})
