/** Improves the prompt of an agent in LangChain: `OPENAI_API_KEY=… node frameworks/langchain.ts`, beside tickets.csv. */
import { evolve } from "@inspo/evolve"
import { ChatOpenAI } from "@langchain/openai"
import { createAgent } from "langchain"

const model = new ChatOpenAI({ model: process.env["MODEL"] ?? "gpt-4.1-mini" })

const result = await evolve({
  prompt: "Sort the support ticket into billing, bug, account, how-to or idea.",
  cases: "tickets.csv",
  agent: async (systemPrompt, { input = "" }, { signal }) => {
    const agent = createAgent({ model, systemPrompt })
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: input }] }, { signal })
    return messages.at(-1)?.text ?? ""
  },
  score: (output, { expected }) => Number(output.trim() === expected),
  proposer: async (request, { signal }) => (await model.invoke(request, { signal })).text,
  budget: { calls: 300 }
})
process.stdout.write(result.report())
