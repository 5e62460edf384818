/** Agents in a process of their own: `workers.ts URL …`, each with one of the gateways. Each sends its whole conversation with every call. */
import { setTimeout } from "node:timers/promises"
import { Schema } from "effect"
import { calls, workers } from "./Shape.ts"

process.on("disconnect", () => process.exit())

const gateways = process.argv.slice(2)

const Call = Schema.NullOr(
  Schema.Struct({
    baseUrl: Schema.String,
    rewardUrl: Schema.String,
    case: Schema.Struct({ question: Schema.String })
  })
)
const Completion = Schema.Struct({
  choices: Schema.NonEmptyArray(Schema.Struct({ message: Schema.Struct({ content: Schema.String }) }))
})
const decodeCall = Schema.decodeUnknownSync(Call)
const decodeCompletion = Schema.decodeUnknownSync(Completion)
const observation = "the page has this to say ".repeat(16)

const post = async (url: string, body: object): Promise<unknown> => {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const work = async (gateway: string): Promise<void> => {
  const call = decodeCall(await post(`${gateway}/episodes/next`, {}))
  if (call === null) return
  const messages = [{ role: "user", content: call.case.question }]
  for (let turn = 0; turn < calls; turn++) {
    const [choice] = decodeCompletion(await post(`${call.baseUrl}/chat/completions`, { messages })).choices
    messages.push({ role: "assistant", content: choice.message.content }, { role: "user", content: observation })
  }
  await post(call.rewardUrl, { score: 1 })
}

const loop = async (_: unknown, index: number): Promise<never> => {
  // A queue of connections that are not accepted yet has fewer places.
  await setTimeout(2 * index)
  for (;;) await work(gateways[index % gateways.length] ?? "")
}
await Promise.all(Array.from({ length: workers }, loop))
