/** A provider that charges for each request it receives, whether or not its answer arrives. */
import { createServer, type ServerResponse } from "node:http"
import { bad, chance, good, neutral, succeeds } from "./Agents.ts"

/** The most that a request can cost in US dollars. */
export const most = { call: 0.02, score: 0.01, proposal: 0.05 }

export interface PaidServer {
  readonly url: string
  /** Requests that were received, by path. */
  readonly received: Readonly<Record<string, number>>
  /** What they cost together, in US dollars. */
  readonly paid: () => number
  /** Requests that wait for an answer. */
  readonly held: () => number
  /** Answers the next requests, up to so many; holds all after them. Resolves when the last of them arrives. */
  readonly serve: (count: number) => Promise<void>
  readonly close: () => void
}

export const make = async (seed: number): Promise<PaidServer> => {
  const received: Record<string, number> = {}
  let paid = 0
  let left = 0
  let reached = () => {}
  const waiting = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      const path = request.url ?? ""
      const total = (received[path] = (received[path] ?? 0) + 1)
      const { text, top } = answer(path, JSON.parse(body))
      const usd = top * chance(seed, path, total)
      paid += usd
      if (left <= 0) {
        waiting.add(response)
        response.on("close", () => waiting.delete(response))
        return
      }
      left -= 1
      setTimeout(() => response.end(JSON.stringify({ text, usd })), 4 * chance(seed, "pause", path, total))
      if (left === 0) reached()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    received,
    paid: () => paid,
    held: () => waiting.size,
    serve: (count) => {
      left = count
      return new Promise((resolve) => (reached = resolve))
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const answer = (path: string, { id, output, prompt }: { id: number; output: string; prompt: string }) => {
  switch (path) {
    case "/agent":
      return { text: succeeds(prompt, { id }) ? "right" : "wrong", top: most.call }
    case "/score":
      return { text: String(Number(output === "right")), top: most.score }
    default:
      return {
        text: [good, bad, neutral].map((one, place) => `<ins_${place + 1}>Name it. ${one}</ins_${place + 1}>`).join(""),
        top: most.proposal
      }
  }
}
