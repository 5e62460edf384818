/** A search as a process of its own, whose agent, judge and proposer are a server: `node SearchProcess.ts URL FILE OPTIONS`. */
import { evolve } from "../../src/index.ts"
import { type Case, cases } from "./Agents.ts"

const [, , url = "", file = "", given = "{}"] = process.argv
const { calls, concurrency, most, usd } = JSON.parse(given)

const post = async (path: string, body: unknown, signal: AbortSignal): Promise<{ text: string; usd: number }> => {
  const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body), signal })
  return JSON.parse(await response.text())
}

try {
  const result = await evolve<string, Case, string>({
    prompt: "Name the capital.",
    cases: cases(40),
    agent: async (prompt, { id }, { signal, spend }) => {
      const answer = await post("/agent", { prompt, id }, signal)
      spend(answer.usd)
      return answer.text
    },
    score: async (output, { id }, { signal, spend }) => {
      const answer = await post("/score", { output, id }, signal)
      spend(answer.usd)
      return Number(answer.text)
    },
    proposer: (request, { signal }) => post("/proposer", { request }, signal),
    atMost: () => most.call + most.score,
    proposalAtMost: () => most.proposal,
    budget: { calls, usd },
    file,
    concurrency,
    retries: 0
  })
  console.log(JSON.stringify({ ...result, text: result.report() }))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
