import { assert, describe, it } from "@effect/vitest"
import { evolve } from "../src/index.ts"
import { chance } from "./support/Agents.ts"

const kinds = ["red", "green", "blue"]
const cases = Array.from({ length: 60 }, (_, index) => ({
  item: `item ${index} is ${kinds[index % kinds.length]}`,
  expected: `code ${index % kinds.length}`
}))
type Case = (typeof cases)[number]

const heading = "Codes of items:"
const shows = (examples: string, { item }: Case): boolean => examples.includes(`Input: {"item":"${item}"}\nOutput: `)

/** An agent that knows the code of a kind from a demonstration of it, and guesses otherwise. */
const search = async (
  randomSeed: number,
  observe: (examples: string, one: Case) => void,
  isHelped: boolean,
  aim: "better" | "shorter" = "better"
) =>
  evolve({
    prompt: { system: "Answer with the code.", examples: heading },
    cases,
    agent: ({ examples }, one) => {
      observe(examples, one)
      const isKnown = isHelped && new RegExp(`Output: ${one.expected}$`, "mu").test(examples)
      return chance(randomSeed, one.item, examples) < (isKnown ? 0.95 : 0.3) ? one.expected : "none"
    },
    score: (output, { expected }) => Number(output === expected),
    proposer: ["Think twice.", "Be brief."],
    budget: { calls: 400 },
    randomSeed,
    aim
  })

const seeds = Array.from({ length: 12 }, (_, index) => index + 1)

describe("demonstrations", () => {
  it(
    "are cases of the search with their right answers, which their prompt is not asked",
    { tags: "deep" },
    async () => {
      const better = await Promise.all(
        seeds.map(async (seed) => {
          const asked: Array<readonly [examples: string, one: Case]> = []
          const { prompt, verdict } = await search(seed, (...call) => asked.push(call), true)
          assert.isTrue(asked.some(([examples]) => examples !== heading))
          assert.isFalse(asked.some(([examples, one]) => shows(examples, one)))
          const found = [...prompt.examples.matchAll(/^Input: (.*)\nOutput: (.*)$/gmu)]
          assert.strictEqual(
            prompt.examples,
            [heading, ...found.map(([, input, output]) => `Input: ${input}\nOutput: ${output}`)].join("\n\n")
          )
          for (const [, input, output] of found)
            assert.strictEqual(cases.find(({ item }) => JSON.stringify({ item }) === input)?.expected, output)
          return verdict === "better" && found.length > 0
        })
      )
      assert.isAtLeast(better.filter(Boolean).length, 10)
    }
  )

  it("do not stay where they do not help", { tags: "deep" }, async () => {
    const results = await Promise.all(seeds.map((seed) => search(seed, () => {}, false)))
    assert.isAtMost(results.filter(({ prompt }) => prompt.examples !== heading).length, 1)
  })

  it("are not tried where a shorter prompt is wanted", async () => {
    const lengths = new Set<number>()
    await search(1, (examples) => lengths.add(examples.length), true, "shorter")
    assert.deepStrictEqual([...lengths], [heading.length])
  })
})
