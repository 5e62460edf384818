/** `optimize` of ax, which is its GEPA; feedback reaches it by `feedbackFn`. */
import { createRequire } from "node:module"
import { trials } from "./host.mjs"

const { AxMockAIService, ax, optimize } = createRequire(new URL("../../../.cache/rivals/", import.meta.url))(
  "@ax-llm/ax"
)

const textOf = ({ chatPrompt }) => chatPrompt.map(({ content }) => content).join("\n\n")
const service = (answer) =>
  new AxMockAIService({
    features: { functions: false, streaming: false },
    chatResponse: async (request) => ({ results: [{ index: 0, content: await answer(request), finishReason: "stop" }] })
  })

const run = async ({ ask, calls, cases, prompt, propose, seed, settings }) => {
  const scored = []
  const scoredOf = ({ label }) => scored[Number(/label (\d+)/u.exec(label)[1])]
  const studentAI = service(async (request) => {
    const [system] = request.chatPrompt
    const ticket = Number([...textOf(request).matchAll(/Ticket (\d+)/gu)].at(-1)[1])
    const answer = await ask(system.content, ticket)
    if (answer === null) throw new Error("all calls are made")
    return `Label: label ${scored.push(answer) - 1}`
  })
  const teacherAI = service(async (request) => {
    const text = textOf(request)
    // It is asked for a summary of the feedback first, then for a new instruction.
    if (!text.includes("New Value")) {
      const hints = new Set(text.match(/A reader would say: [^."]*\./gu))
      return `Feedback Summary: ${[...hints].join(" ") || "The labels are wrong."}`
    }
    const parent = text
      .match(new RegExp(`${prompt}[^\\n"<]*`, "gu"))
      .at(-1)
      .trim()
    const [revised] = await propose(parent, text, 1)
    return `New Value: ${revised}`
  })
  const program = ax("ticket:string -> label:string")
  program.setInstruction(prompt)
  const tickets = Array.from({ length: cases }, (_, place) => ({ ticket: `Ticket ${place}`, label: "" }))
  const { optimizedProgram } = await optimize(
    program,
    tickets.slice(0, cases - settings.validation),
    ({ prediction }) => scoredOf(prediction).score,
    {
      studentAI,
      teacherAI,
      validationExamples: tickets.slice(cases - settings.validation),
      maxMetricCalls: calls,
      feedbackFn: ({ prediction }) => scoredOf(prediction).feedback,
      seed
    }
  )
  const [instruction] = Object.values(optimizedProgram?.componentMap ?? {})
  return instruction ?? prompt
}

await trials(run)
