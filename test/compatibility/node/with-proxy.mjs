/** Asks a model through `inspo serve --upstream` as OpenAI's client does, and fails where it does not get what that client expects. */
import assert from "node:assert/strict"
import OpenAI from "openai"

const [baseURL, key] = process.argv.slice(2)
const client = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 })
const system = { role: "system", content: "{{inspo:support|Answer the customer.}}" }
const asked = { model: "m", messages: [system, { role: "user", content: "Hi" }] }
const talk = { headers: { "inspo-conversation": "node" } }

const { data, response } = await client.chat.completions.create(asked, talk).withResponse()
const text = data.choices[0].message.content
const lease = response.headers.get("inspo-lease")
assert.match(text, /^Be \w+\.$/)
assert.ok(lease)
assert.equal(data.usage.total_tokens, 8)

let streamed = ""
for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }, talk))
  streamed += chunk.choices[0]?.delta.content ?? ""
assert.equal(streamed, text)

const input = { model: "m", instructions: system.content, input: "Hi" }
assert.equal((await client.responses.create(input, talk)).output_text, text)
let responded = ""
for await (const event of await client.responses.create({ ...input, stream: true }, talk))
  if (event.type === "response.output_text.delta") responded += event.delta
assert.equal(responded, text)

const lost = { ...asked, messages: [{ role: "system", content: "{{inspo:nobody|Answer.}}" }] }
const answer = await client.chat.completions.create(lost).withResponse()
assert.equal(answer.data.choices[0].message.content, "Answer.")
assert.equal(answer.response.headers.get("inspo-unleased"), "default")
await assert.rejects(
  client.chat.completions.create({ ...asked, messages: [{ role: "system", content: "{{inspo:nobody}}" }] }),
  (error) => error instanceof OpenAI.InternalServerError && error.code === "no_instruction"
)
await assert.rejects(
  new OpenAI({ baseURL, apiKey: "another", maxRetries: 0 }).chat.completions.create(asked),
  OpenAI.AuthenticationError
)

const stream = await client.chat.completions.create({ ...asked, user: "leaves", stream: true })
for await (const _ of stream) break
stream.controller.abort()
