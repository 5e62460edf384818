/** A model for the programs of `sort-tickets`, which knows every ticket, and what it was asked. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Cases } from "@inspo/evolve/parts"
import { type Asked, ModelServer } from "../../../test/agents/ModelServer.ts"

/** The folder of the programs and of their tickets. */
export const folder = fileURLToPath(new URL("../../sort-tickets", import.meta.url))

export const prompt = "Sort the support ticket into billing, bug, account, how-to or idea."
export const good = "Reply with the category alone."

const tickets = Cases.parseFile("tickets.csv", readFileSync(`${folder}/tickets.csv`, "utf8"))

/** Names the category in a sentence, except of every third ticket or where a prompt wants it alone; a proposer that knows this. */
export const answer = ({ body }: Pick<Asked, "body">): string => {
  if (body.includes("<ins_1>")) return `<ins_1>${prompt} ${good}</ins_1><ins_2>${prompt} Be polite.</ins_2>`
  const { place, ticket } = asked(body)
  return place % 3 === 0 || body.includes(good) ? ticket.expected : `This is about ${ticket.expected}.`
}

/** A server of OpenAI's API in front of that model. */
export const start = async (): Promise<{ readonly server: ModelServer; readonly url: string }> => {
  const server = new ModelServer(answer)
  return { server, url: await server.start() }
}

/** The last ticket of a request. */
export const asked = (body: string) => {
  const found = tickets
    .map(({ expected = "", input = "" }, place) => ({ place, ticket: { expected, input } }))
    .toSorted((one, other) => body.lastIndexOf(other.ticket.input) - body.lastIndexOf(one.ticket.input))[0]
  if (found === undefined || !body.includes(found.ticket.input)) throw new Error(`no ticket is in ${body}`)
  return found
}
