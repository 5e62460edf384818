/** The trials of `run.ts` for optimizers in JavaScript: the simulated agent, its score, and the scripted proposer. */
import { Console } from "node:console"
import { createInterface } from "node:readline"

// What an optimizer prints goes to standard error; standard output is for requests.
globalThis.console = new Console(process.stderr)
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const send = async (request) => {
  process.stdout.write(`${JSON.stringify(request)}\n`)
  return JSON.parse((await answers.next()).value)
}

/** Runs `optimize` on each trial. `ask` gives a score with feedback, or null once the calls of the budget are made. */
export const trials = async (optimize) => {
  for (let trial = await send({ do: "next" }); trial !== null; trial = await send({ do: "next" })) {
    const ask = (prompt, ticket) => send({ do: "ask", prompt, case: ticket })
    const propose = (parent, request, count) => send({ do: "propose", parent, request, count })
    await send({ do: "return", prompt: await optimize({ ...trial, ask, propose }) })
  }
  process.exit(0)
}
