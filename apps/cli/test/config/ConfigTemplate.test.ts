import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { Result } from "effect"
import { parse } from "yaml"
import { configKeys, jsonSchema } from "../../src/config/ConfigKeys.ts"
import { configTemplate } from "../../src/config/ConfigTemplate.ts"
import { leafPaths, parseFile, resolve, valueAt } from "../../src/config/Resolve.ts"

describe("configTemplate", () => {
  it.each(["quick", "paper", "robust", "tiny"] as const)("reads as the preset %s, whatever it is laid over", (name) => {
    const config = Presets[name]
    const text = configTemplate(config, "About this file", "config.schema.json")
    for (const base of [Presets.quick, Presets.paper]) {
      const read = Result.flatMap(parseFile("config.yaml", text), (override) => resolve(base, [override]))
      assert.deepStrictEqual(Result.getOrThrow(read), config)
    }
  })

  it("explains every key, in lines of at most 100 columns", () => {
    const text = configTemplate(Presets.quick, "About this file", "config.schema.json")
    const comments = text.split("\n").filter((line) => /^\s*#/u.test(line))
    for (const line of comments) assert.isAtMost(line.length, 100)
    const explained = comments.map((line) => line.replace(/^\s*# ?/u, "")).join(" ")
    for (const { meaning } of configKeys) assert.include(explained, meaning)
    assert.notMatch(explained, /\(row \d/u)
  })
})

describe("configKeys", () => {
  it("names every key of a config, and says of each what it takes and means", () => {
    const values = configKeys.filter(({ isSection }) => !isSection)
    const named = (leaf: string) => values.filter(({ path }) => leaf === path || leaf.startsWith(`${path}.`)).length
    for (const leaf of leafPaths(Presets.quick)) assert.strictEqual(named(leaf), 1, leaf)
    for (const { path } of values) assert.isDefined(valueAt(Presets.quick, path), path)
    for (const { meaning, path } of configKeys) assert.isNotEmpty(meaning, `${path} needs a description in its Schema`)
    for (const { path, takes } of values) assert.isNotEmpty(takes, path)
  })
})

describe("jsonSchema", () => {
  it("demands no key, and forbids those that no config has", () => {
    const text = JSON.stringify(jsonSchema)
    assert.notMatch(text, /"additionalProperties":true/u)
    assert.deepStrictEqual(parse(text), jsonSchema)
    const sections = configKeys.filter(({ isSection }) => isSection)
    const methods = text.split('"name":{"type":"string","enum":[').length - 1
    // The root, each section, each method of a choice, selection, keys, rollout.texts, control, proposer.model, rollout.rescue, and the elements of budget.prices, control.clauses and, of two kinds, rollout.mcp.
    assert.strictEqual(text.split('"additionalProperties":false').length - 1, sections.length + methods + 11)
    assert.strictEqual(text.split('"required":').length - 1, 4)
  })
})
