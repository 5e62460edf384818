/**
 * A server of Node alone, as the anchor of a machine's speed: it reads each request, and answers leases with one of the size of
 * the instruction server's.
 */
import { once } from "node:events"
import { createServer } from "node:http"

let given = 0

const lease = () =>
  JSON.stringify({
    leases: [
      {
        lease: `default.auto/train/1.bare.${given++}`,
        key: "1700000000000.0-1",
        samples: 1,
        instruction: { id: "i0", text: "Answer the question in one word." }
      }
    ]
  })

const server = createServer((request, response) => {
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk) => (body += chunk))
  request.on("end", () => {
    JSON.parse(body)
    response.setHeader("content-type", "application/json")
    response.end(request.url?.endsWith("/leases") === true ? lease() : "{}")
  })
})
await once(server.listen(0, "127.0.0.1"), "listening")
const address = server.address()
if (typeof address !== "object" || address === null) throw new Error("the server has no address")
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`)
