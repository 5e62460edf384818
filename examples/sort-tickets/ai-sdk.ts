/** Improves the prompt of an agent in the AI SDK: `OPENAI_API_KEY=… node ai-sdk.ts`, in this folder. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { evolve } from "@inspo/evolve"
import { generateText } from "ai"

const { MODEL = "gpt-4.1-mini", OPENAI_API_KEY = "", OPENAI_BASE_URL = "https://api.openai.com/v1" } = process.env
const provider = createOpenAICompatible({ name: "openai", baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })
const model = provider(MODEL)

const result = await evolve({
  prompt: "Sort the support ticket into billing, bug, account, how-to or idea.",
  cases: "tickets.csv",
  agent: async (system, { input = "" }, { signal }) =>
    (await generateText({ model, system, prompt: input, abortSignal: signal })).text,
  score: (output, { expected }) => Number(output.trim() === expected),
  proposer: model,
  budget: { calls: 300 }
})
process.stdout.write(result.report())
