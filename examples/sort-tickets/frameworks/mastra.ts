/** Improves the prompt of an agent in Mastra: `OPENAI_API_KEY=… node frameworks/mastra.ts`, beside tickets.csv. */
import { evolve } from "@inspo/evolve"
import { Agent } from "@mastra/core/agent"

const model = `openai/${process.env["MODEL"] ?? "gpt-4.1-mini"}`
const sorter = new Agent({ id: "sorter", name: "sorter", model, instructions: "" })
const writer = new Agent({ id: "writer", name: "writer", model, instructions: "You improve prompts." })

const result = await evolve({
  prompt: "Sort the support ticket into billing, bug, account, how-to or idea.",
  cases: "tickets.csv",
  agent: async (instructions, { input = "" }, { signal }) =>
    (await sorter.generate(input, { instructions, abortSignal: signal })).text,
  score: (output, { expected }) => Number(output.trim() === expected),
  proposer: async (request, { signal }) => (await writer.generate(request, { abortSignal: signal })).text,
  budget: { calls: 300 }
})
process.stdout.write(result.report())
