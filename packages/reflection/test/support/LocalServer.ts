/** A server on this machine that answers as a script says. */
import { createServer, type IncomingHttpHeaders } from "node:http"
import { Effect, type Scope } from "effect"

/** One answer: a status with headers and a body, one that breaks off within the body, or none at all. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly breaks?: "within the body" | "at once"
  readonly silent?: boolean
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface LocalServer {
  readonly url: string
  readonly asked: ReadonlyArray<Asked>
}

/** Serves until the scope closes. Request n gets reply n; the last reply is given again and again. */
export const make = (replies: (asked: Asked) => ReadonlyArray<Reply>): Effect.Effect<LocalServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: ReturnType<typeof createServer>; readonly local: LocalServer }>((resume) => {
      const asked: Array<Asked> = []
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const one = {
            method: request.method ?? "",
            path: request.url ?? "",
            headers: request.headers,
            body: Buffer.concat(chunks).toString("utf8")
          }
          asked.push(one)
          const script = replies(one)
          const reply = script[Math.min(asked.length, script.length) - 1] ?? {}
          const { body = "", breaks, headers = {}, silent, status = 200 } = reply
          if (silent === true) return
          if (breaks === "at once") {
            request.socket.destroy()
            return
          }
          const length = Buffer.byteLength(body) + (breaks === undefined ? 0 : 100)
          response.writeHead(status, {
            "content-type": "application/json",
            ...headers,
            "content-length": String(length)
          })
          if (breaks === undefined) response.end(body)
          else response.write(body, () => request.socket.destroy())
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ server, local: { url: `http://127.0.0.1:${port}`, asked } }))
      })
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map(({ local }) => local))
