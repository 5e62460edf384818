import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const leased = (lease: object) =>
  JSON.stringify({
    cohort: "1",
    incumbent: null,
    leases: [
      {
        id: "support/0/1/a",
        lease: "support/0/1/a",
        key: "a",
        instruction: { id: "i1", text: "x" },
        n: 1,
        probability: 1,
        closesAt: null,
        ...lease
      }
    ]
  })

/** Answers that a client has to survive, by what is wrong with them. */
export const answers: Readonly<Record<string, string>> = {
  "15 MB": leased({ instruction: { id: "i1", text: "x".repeat(15_000_000) } }),
  "15 MB of small values": `{"cohort":"1","leases":[${"1,".repeat(7_000_000)}1]}`,
  "an n of a billion": leased({ n: 1e9 }),
  "a depth of 100,000": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  "escape sequences": JSON.stringify({ detail: "\u001B[2J\u001B]0;owned\u0007", message: "\u001B[2J" })
}

/** A server with one answer, status 400 where it is none of leases. */
export const hostileServer = async (answer: string) => {
  const server = createServer((request, response) => {
    request.resume()
    response.statusCode = answer.includes('"leases"') ? 200 : 400
    response.setHeader("content-type", "application/json")
    response.end(answer)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
