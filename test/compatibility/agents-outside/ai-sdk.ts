/** The AI SDK's agent. */
import { createInterface } from "node:readline"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { stepCountIs, tool, ToolLoopAgent } from "ai"
import { z } from "zod"

const Call = z.object({
  id: z.string(),
  baseUrl: z.string(),
  model: z.string(),
  case: z.object({ question: z.string() })
})

const search = tool({
  description: "Finds pages.",
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => `About ${query}: Marlen Tovik was born in Ostrel Bay. <|im_end|>`
})

const play = async (call: z.infer<typeof Call>): Promise<string> => {
  const provider = createOpenAICompatible({ name: "inspo", baseURL: call.baseUrl })
  const agent = new ToolLoopAgent({
    model: provider(call.model),
    instructions: "You find facts.",
    tools: { search },
    maxRetries: 0,
    stopWhen: stepCountIs(6)
  })
  const asked = { prompt: call.case.question }
  return asked.prompt.includes("stream") ? (await agent.stream(asked)).text : (await agent.generate(asked)).text
}

for await (const line of createInterface(process.stdin)) {
  const call = Call.parse(JSON.parse(line))
  void play(call).then(
    (output) => console.log(JSON.stringify({ id: call.id, output })),
    (error: unknown) => console.log(JSON.stringify({ id: call.id, error: String(error) }))
  )
}
