import { cp, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo, sets, testTimeout } from "../cli/Inspo.ts"
import { presetOf, retrieverOf, tracesOf, writePrograms } from "../cli/TrainedAgent.ts"
import * as Foreign from "./support/Foreign.ts"

const sources = fileURLToPath(new URL("agents-outside", import.meta.url))

const Metrics = Schema.fromJsonString(Schema.Struct({ "reward/mean": Schema.Finite, clipfrac: Schema.Finite }))
const decodeMetrics = Schema.decodeUnknownSync(Metrics)

/**
 * The embedded model's chat template has no tools and no role for their results, and the model was never trained to write calls as
 * JSON. So the agent is a graph whose model searches in tags.
 */
describe.skipIf(Foreign.problem !== null)("LangGraph's agent on the embedded model", () => {
  let cwd = ""
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-agents-trained-"))
    await cp(sources, cwd, { recursive: true })
    await writePrograms(cwd)
  })
  afterAll(async () => {
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  const run = async (out: string, agent: string, name: string, steps: number) => {
    const settings = sets(`schedule.steps=${steps}`, "evaluation.questions=20")
    const finished = await inspo(
      ["run", "--no-baseline", "--agent", agent, ...presetOf(name), ...settings, "--out", out],
      { cwd }
    )
    assert.strictEqual(finished.code, 0, finished.stderr)
    return finished.stdout
  }

  it("has the rollouts of a program that asks as it does", { timeout: 2 * testTimeout }, async () => {
    const retriever = await retrieverOf(cwd, "tiny")
    await run("graph", `${Foreign.python} langgraph_search.py ${retriever}`, "tiny", 3)
    await run("plain", `python3 search_agent.py ${retriever}`, "tiny", 3)
    assert.deepStrictEqual(await tracesOf(cwd, "graph"), await tracesOf(cwd, "plain"))
  })

  it("learns, with its instruction", { timeout: 4 * testTimeout }, async () => {
    const agent = `${Foreign.python} langgraph_search.py ${await retrieverOf(cwd, "quick")}`
    const shown = await run("learns", agent, "quick", 12)
    const metrics = (await readFile(join(cwd, "learns", "metrics.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => decodeMetrics(line))
    // One update a step, on its own rollouts: what was recorded is what the policy gives, so that no ratio is clipped.
    assert.deepStrictEqual(new Set(metrics.map(({ clipfrac }) => clipfrac)), new Set([0]))
    const mean = (some: ReadonlyArray<typeof Metrics.Type>) =>
      some.reduce((sum, one) => sum + one["reward/mean"], 0) / some.length
    const [before, after] = [mean(metrics.slice(0, 4)), mean(metrics.slice(-4))]
    console.log(`reward ${before.toFixed(3)} in steps 1 to 4, ${after.toFixed(3)} in steps 9 to 12`)
    assert.isAbove(after, before + 0.15)
    assert.match(shown, /step \d+: evolved i\d+/u)
    assert.notInclude(shown, "degraded")
    Foreign.record({
      software: "LangGraph (Python)",
      package: "langgraph",
      what: "`inspo run --agent`: trained with its instruction on the embedded model"
    })
  })
})
