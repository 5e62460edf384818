/**
 * A support agent whose prompt learns from ratings, on any model behind an OpenAI-compatible API:
 *
 *     MODEL_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 node chat-agent/main.ts
 *
 * Each answer prints a command that reports a thumb from another terminal.
 */
import { createInterface } from "node:readline/promises"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Inspo } from "@inspo/client"
import { makePopulation } from "../support/Population.ts"
import { conversation, prompt, variants } from "./ChatAgent.ts"

const { INSPO_KEY, INSPO_URL = "http://127.0.0.1:8700", MODEL = "", MODEL_KEY, MODEL_URL = "" } = process.env
if (MODEL === "" || MODEL_URL === "") throw new Error("set MODEL_URL and MODEL to the model that answers")

await makePopulation(INSPO_URL, "support", { seed: prompt, variants }, INSPO_KEY)
// The model takes seconds, so a lease may take longer than the default 200 ms.
await using inspo = new Inspo({
  urls: [INSPO_URL],
  timeout: 2000,
  ...(INSPO_KEY === undefined ? {} : { apiKey: INSPO_KEY })
})
const provider = createOpenAICompatible({
  name: "model",
  baseURL: MODEL_URL,
  ...(MODEL_KEY === undefined ? {} : { apiKey: MODEL_KEY })
})
const say = conversation(inspo, provider(MODEL), crypto.randomUUID())

process.stdout.write("Ask the shop something; an empty line ends it.\n> ")
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") break
  const { answer, lease } = await say(line)
  process.stdout.write(`${answer}\n`)
  if (lease !== null) process.stdout.write(`  node chat-agent/thumb.ts ${lease} up\n`)
  process.stdout.write("> ")
}
