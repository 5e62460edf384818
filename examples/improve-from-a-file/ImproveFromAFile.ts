import { Inspo } from "@inspo/client"
import { makePopulation } from "../support/Population.ts"

/** An output with its score, from 0 to 1, and feedback. */
export interface Row {
  readonly input: string
  readonly output: string
  readonly score: number
  readonly feedback?: string
}

export interface Options {
  readonly url: string
  readonly key?: string
  /** Name of the population to create from the prompt. */
  readonly name: string
  /** The prompt of the outputs. */
  readonly prompt: string
  readonly rows: ReadonlyArray<Row>
  /** Time to wait for new prompts. */
  readonly seconds: number
}

/**
 * Reports the scores of a prompt on rows that were scored elsewhere, starts an evolution, and returns the new prompts. None is
 * used before you approve it on the server's page.
 */
export const improve = async ({ key, name, seconds, prompt, rows, url }: Options): Promise<ReadonlyArray<string>> => {
  const settings = { approval: "by-hand" }
  await makePopulation(url, name, { seed: prompt, profile: "trainer", settings }, key)
  const inspo = new Inspo({ urls: [url], timeout: 10_000, ...(key === undefined ? {} : { apiKey: key }) })
  const requests = rows.map(({ input }, index) => ({
    key: `row ${index}`,
    question: { id: `row ${index}`, text: input }
  }))
  const leases = await inspo.leases(name, requests, { cohort: "scored/1" })
  for (const [index, lease] of leases.entries()) {
    const row = rows[index]
    if (row === undefined || !lease.leased) throw new Error(`no lease from ${url}; check that inspo serve runs there`)
    const { feedback, input, output, score } = row
    const transcript = [
      { role: "user", content: input },
      { role: "assistant", content: output }
    ]
    await lease.reward(score, { transcript, ...(feedback === undefined ? {} : { feedback }) })
  }
  if ((await inspo.flush()) > 0)
    throw new Error("not all scores were acknowledged; run this again, no score counts twice")
  await inspo.close(name, "scored/1")
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const ask = async (path: string, method: string): Promise<Answer> => {
    const response = await fetch(`${url}/v1/populations/${name}${path}`, { method, headers })
    if (!response.ok) throw new Error(`${method} ${path} was refused: ${await response.text()}`)
    return JSON.parse(await response.text())
  }
  await ask("/evolve", "POST")
  for (let second = 0; second < seconds; second++) {
    const { degraded, members } = await ask("", "GET")
    const waiting = members.filter(({ standing }) => standing === "waiting")
    if (waiting.length > 0) return waiting.map(({ wording }) => wording)
    if (degraded[0] !== undefined) throw new Error(`${degraded[0].reason} ${degraded[0].remedy}`)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  throw new Error(`no new prompt within ${seconds} seconds`)
}

interface Answer {
  readonly members: ReadonlyArray<{ readonly standing: string; readonly wording: string }>
  readonly degraded: ReadonlyArray<{ readonly reason: string; readonly remedy: string }>
}
