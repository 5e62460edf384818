import { assert, describe, it } from "@effect/vitest"
import { inconsistency, Method, Presets } from "@inspo/coevolution"

describe("Method", () => {
  const algorithm = (method: Method.Method) => Method.bend(Presets.quick, method)

  it("inspo is the preset as it is", () => {
    assert.deepStrictEqual(algorithm("inspo"), Presets.quick)
  })

  it("grpo-static keeps one instruction and changes nothing else", () => {
    const { population, schedule, ...rest } = algorithm("grpo-static")
    assert.deepStrictEqual([population.size, schedule.pruneEvery, schedule.evolveEvery], [1, 0, 0])
    const { population: _, schedule: __, ...preset } = Presets.quick
    assert.deepStrictEqual(rest, preset)
  })

  it("grpo has no tools, and an instruction that knows of none", () => {
    const { rollout, seedInstruction } = algorithm("grpo")
    assert.strictEqual(rollout.agent.name, "direct")
    assert.notInclude(seedInstruction, "search")
    assert.include(seedInstruction, "</answer>")
  })

  it("supervised methods learn from demonstrations that suit their tools, by likelihood alone", () => {
    const [plain, tool, rejection] = [algorithm("sft"), algorithm("sft-tool"), algorithm("rejection-sampling")]
    assert.deepStrictEqual([plain.rollout.agent.name, plain.control.demonstrations], ["direct", "answers"])
    assert.deepStrictEqual([tool.rollout.agent.name, tool.control.demonstrations], ["search-r1", "searches"])
    assert.deepStrictEqual([rejection.control.demonstrations, rejection.rollout.groupSize], [null, 5])
    for (const { train } of [plain, tool, rejection])
      assert.deepStrictEqual([train.advantage.name, train.kl.name], ["reward", "none"])
  })

  it("supervised methods learn by no reward of groups, which can be below 0", () => {
    const flawed = { name: "flawed", penalty: 1, model: "", criteria: "", again: 0.1 } as const
    const shaped = { ...Presets.quick, reward: { ...Presets.quick.reward, shaping: flawed } }
    for (const method of ["sft", "sft-tool", "rejection-sampling"] as const)
      assert.strictEqual(Method.bend(shaped, method).reward.shaping.name, "none")
    assert.strictEqual(Method.bend(shaped, "grpo-static").reward.shaping.name, "flawed")
  })

  it("every method works with every preset", () => {
    for (const method of Method.Method.literals)
      for (const [name, preset] of Object.entries(Presets.byName))
        assert.isNull(inconsistency(Method.bend(preset, method)), `${method} ${name}`)
  })
})
