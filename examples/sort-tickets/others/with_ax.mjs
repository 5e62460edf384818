/** The ticket job in ax: `OPENAI_API_KEY=… node with_ax.mjs`, beside tickets.csv. */
import { readFileSync } from "node:fs"
import { ai, ax, optimize } from "@ax-llm/ax"

const { MODEL = "gpt-4.1-mini", OPENAI_API_KEY, OPENAI_BASE_URL } = process.env
const model = ai({ name: "openai", apiKey: OPENAI_API_KEY, apiURL: OPENAI_BASE_URL, config: { model: MODEL } })
const rows = readFileSync("tickets.csv", "utf8").trim().split("\n").slice(1)
const tickets = rows.map((row) => row.split(",")).map(([ticket, expected]) => ({ ticket, expected }))
const prompt = "Sort the support ticket into billing, bug, account, how-to or idea."
const sorter = ax("ticket:string -> category:string")

sorter.setInstruction(prompt)
const score = ({ example, prediction }) => Number(prediction.category.trim() === example.expected)
const { optimizedProgram } = await optimize(sorter, tickets.slice(0, 30), score, {
  studentAI: model,
  teacherAI: model,
  validationExamples: tickets.slice(30),
  maxMetricCalls: 300
})
process.stdout.write(`${Object.values(optimizedProgram?.componentMap ?? {})[0] ?? prompt}\n`)
