/** `promptfoo optimize`: its process asks a server of this program for answers of the agent and for candidates. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { json, text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { trials } from "./host.mjs"

const promptfoo = fileURLToPath(
  new URL("../../../.cache/rivals/node_modules/promptfoo/dist/src/entrypoint.js", import.meta.url)
)

const agent = `export default class {
  id() { return "agent" }
  async callApi(prompt) {
    const answer = await fetch(process.env.AGENT_URL, { method: "POST", body: JSON.stringify({ prompt }) })
    const output = await answer.text()
    return output === "null" ? { error: "all calls are made" } : { output }
  }
}
`
const score =
  "({ pass: JSON.parse(output).score > 0, score: JSON.parse(output).score, reason: JSON.parse(output).feedback })"
const end = "\n\n{{ticket}}"

/** The text of a prompt without the ticket. */
const instructionOf = (prompt) => prompt.split("\n\n")[0]

const optimize = async ({ ask, prompt, propose, settings }) => {
  const folder = await mkdtemp(join(tmpdir(), "promptfoo-"))
  // One request at a time: the trial has one line of questions and answers.
  let last = Promise.resolve()
  const inTurn = (work) => (last = last.then(work))
  const server = createServer((request, response) =>
    inTurn(async () => {
      const body = await json(request)
      if (request.url === "/agent")
        return response.end(
          JSON.stringify(await ask(instructionOf(body.prompt), Number(/Ticket (\d+)/u.exec(body.prompt)[1])))
        )
      const asked = body.messages.at(-1).content
      const { candidateCount, currentPrompt } = JSON.parse(asked)
      const texts = await propose(instructionOf(currentPrompt), asked, candidateCount)
      const content = JSON.stringify({ candidates: texts.map((own) => ({ hypothesis: "", prompt: `${own}${end}` })) })
      response.setHeader("content-type", "application/json")
      response.end(
        JSON.stringify({
          choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
        })
      )
    })
  )
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${server.address().port}`
  await writeFile(join(folder, "agent.mjs"), agent)
  await writeFile(
    join(folder, "config.json"),
    JSON.stringify({
      prompts: [`${prompt}${end}`],
      providers: ["file://agent.mjs"],
      evaluateOptions: { maxConcurrency: 1 },
      defaultTest: { assert: [{ type: "javascript", value: score }] },
      tests: Array.from({ length: settings.cases }, (_, ticket) => ({ vars: { ticket: `Ticket ${ticket}` } }))
    })
  )
  const split = settings.validation === 0 ? [] : ["--validation-split", String(settings.validation / 100)]
  const child = spawn(process.execPath, [promptfoo, "optimize", "-c", join(folder, "config.json"), ...split], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      AGENT_URL: `${url}/agent`,
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${url}/v1`,
      PROMPTFOO_CONFIG_DIR: folder,
      PROMPTFOO_DISABLE_REMOTE_GENERATION: "1",
      PROMPTFOO_DISABLE_TELEMETRY: "1",
      PROMPTFOO_DISABLE_UPDATE: "1"
    }
  })
  const printed = await text(child.stdout)
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true })
  const [, best] = /^Best prompt\n(.*)$/mu.exec(printed) ?? []
  if (best === undefined) throw new Error(`promptfoo found no prompt: ${printed}`)
  return best
}

await trials(optimize)
