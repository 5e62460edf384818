import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { evolve } from "../src/index.ts"
import { type Case, cases, good, neutral } from "./support/Agents.ts"

const prompt = "Name the capital."
const searches = 8

/**
 * A search for a prompt of a new model. The old model is right in 7 of 10 cases, the new one in `carried` of them, and in `best` of them
 * where the prompt asks well.
 */
const migrated = async (seed: number, carried: number, best: number, proposer: ReadonlyArray<string>) => {
  const answered = (share: number, { id }: Case, who: string) =>
    RandomStream.make(seed, id % 4 > 0 ? [id] : [who, id]).next() < share ? "right" : "wrong"
  return evolve<string, Case, string>({
    prompt,
    cases: cases(140),
    control: {
      agent: (one, { spend }) => {
        spend(1)
        return answered(0.7, one, "old")
      }
    },
    agent: (text, one, { spend }) => {
      spend(0.5)
      return answered(text.includes(good) ? best : carried, one, text)
    },
    score: (output) => Number(output === "right"),
    proposer,
    margin: 0.2,
    budget: { calls: 400 },
    randomSeed: seed
  })
}

const all = (carried: number, best: number, proposer: ReadonlyArray<string> = [good, neutral]) =>
  Promise.all(Array.from({ length: searches }, (_, seed) => migrated(seed, carried, best, proposer)))

describe("a search for a prompt of a model that replaces another one", () => {
  it("finds one that is no worse than the old model's, and says what a call costs", { tags: "deep" }, async () => {
    const found = (await all(0.45, 0.72)).filter(({ verdict }) => verdict === "no-worse")
    assert.isAtLeast(found.length, 0.7 * searches)
    for (const { prompt: text } of found) assert.include(text, good)
    const report = found[0]?.report() ?? ""
    assert.include(report, "# A prompt that is no worse than what it replaces")
    assert.include(report, "Its price of a call changes by −50.0")
    assert.include(report, "It is shown that it is no worse by more than 20.0 points")
  })

  it("keeps the prompt that was given where it carries over", async () => {
    const found = (await all(0.72, 0.3, [good])).filter(({ verdict }) => verdict === "no-worse")
    assert.isAtLeast(found.length, 0.7 * searches)
    for (const one of found) assert.strictEqual(one.prompt, prompt)
  })

  it("claims at most one in twenty where every prompt loses the margin", { tags: "deep" }, async () => {
    const wrong = (await all(0.4, 0.5)).filter(({ verdict }) => verdict === "no-worse")
    assert.isAtMost(wrong.length, 1)
  })

  it("takes no other aim", async () => {
    const options = {
      prompt,
      cases: cases(20),
      agent: () => "",
      score: () => 1,
      proposer: [good],
      budget: { calls: 60 }
    }
    const error = await evolve({ ...options, control: { agent: () => "" }, aim: "shorter" }).catch((cause: unknown) =>
      cause instanceof Error ? cause.message : ""
    )
    assert.include(error, "aim")
  })
})
