/**
 * Sends requests over persistent connections, one at a time on each, with less work than Node's own client, which would take
 * processor time from the measured server.
 */
import { connect, type Socket } from "node:net"

export interface Client {
  readonly address: string
  /** The body of the answer; fails where its status is not 200. */
  readonly post: (path: string, body: string) => Promise<string>
  readonly close: () => void
}

/** Uses at most `most` connections; further requests wait for one. */
export const make = (address: string, most: number): Client => {
  const { host, hostname, port } = new URL(address)
  const idle: Array<Connection> = []
  const all: Array<Connection> = []
  const waiting: Array<(connection: Connection) => void> = []
  const take = (): Promise<Connection> | Connection => {
    // The one that is idle longest, since a server closes idle connections.
    for (let free = idle.shift(); free !== undefined; free = idle.shift()) if (!free.socket.destroyed) return free
    if (all.length >= most) return new Promise((resolve) => waiting.push(resolve))
    const opened = open(connect({ host: hostname, port: Number(port), noDelay: true }))
    all.push(opened)
    return opened
  }
  const leave = (connection: Connection) => {
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else next(connection)
  }
  return {
    address,
    post: async (path, body) => {
      const connection = await take()
      const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`
      const { status, text } = await connection.ask(`${head}\r\n\r\n${body}`)
      leave(connection)
      if (status !== 200) throw new Error(text)
      return text
    },
    close: () => {
      for (const { socket } of all) socket.destroy()
    }
  }
}

interface Answer {
  readonly status: number
  readonly text: string
}

interface Connection {
  readonly socket: Socket
  readonly ask: (request: string) => Promise<Answer>
}

/** Every response of the server has a content-length. */
const open = (socket: Socket): Connection => {
  let received = ""
  let pending: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void } | null = null
  // A character for each byte, so that the length is that of the text.
  socket.setEncoding("latin1")
  socket.on("data", (chunk: string) => {
    received += chunk
    const end = received.indexOf("\r\n\r\n")
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/iu.exec(received.slice(0, end))?.[1] ?? 0)
    if (received.length < end + 4 + length) return
    const answer = { status: Number(received.slice(9, 12)), text: received.slice(end + 4) }
    received = ""
    pending?.resolve(answer)
  })
  socket.on("error", (error) => pending?.reject(error))
  socket.on("close", () => pending?.reject(new Error("the server closed the connection")))
  return {
    socket,
    ask: (request) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject }
        socket.write(request, "latin1")
      })
  }
}
