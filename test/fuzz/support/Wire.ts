import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { Delivery } from "./Message.ts"

/** What came back: `status` is null where the connection ended without an answer. */
export interface Answer {
  readonly status: number | null
  readonly head: string
  readonly body: string
  /**
   * Until the last byte of the answer, or the first of one that does not end, without the time in which this process was
   * busy itself; a server that has not read a body leaves its connection open after the answer for a moment. All of it where
   * the connection was never closed.
   */
  readonly milliseconds: number
}

/** Milliseconds after which nobody waits for an answer any more. */
export const longestWait = 40_000

/**
 * Writes bytes to a port of this machine and reads until the server closes, or for so many milliseconds. An answer of events counts as whole with its
 * head; where the delivery is `cut` or `deaf` no answer is waited for.
 */
export const exchange = (
  port: number,
  bytes: Uint8Array,
  delivery: Delivery,
  wait: number = longestWait
): Promise<Answer> =>
  new Promise((resolve) => {
    const waited = stopwatch()
    let milliseconds = 0
    const parts: Array<Buffer> = []
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answerOf(Buffer.concat(parts), milliseconds))
    }
    const timer = setTimeout(() => {
      milliseconds = waited()
      end()
    }, wait)
    socket.on("error", end)
    socket.on("close", end)
    if (delivery !== "deaf")
      socket.on("data", (part: Buffer) => {
        parts.push(part)
        milliseconds = waited()
        if (parts.length === 1 && part.includes("content-type: text/event-stream") && !part.includes("content-length"))
          end()
      })
    socket.on("connect", () => {
      void write()
    })

    const write = async () => {
      const middle = bytes.length >> 1
      socket.write(delivery === "pieces" || delivery === "cut" ? bytes.subarray(0, middle) : bytes)
      if (delivery === "pieces") {
        await sleep(5)
        socket.write(bytes.subarray(middle))
      }
      if (delivery === "cut" || delivery === "deaf") setTimeout(end, 20)
    }
  })

/** Counts the milliseconds from now on in which this process waits. */
const stopwatch = (): (() => number) => {
  const began = performance.now()
  const busy = performance.eventLoopUtilization()
  return () => performance.now() - began - performance.eventLoopUtilization(busy).active
}

const answerOf = (bytes: Buffer, milliseconds: number): Answer => {
  const text = bytes.toString("utf8").replace(/^HTTP\/1\.1 100[^]*?\r\n\r\n/u, "")
  const split = text.indexOf("\r\n\r\n")
  const head = split < 0 ? text : text.slice(0, split)
  const [, status] = /^HTTP\/1\.1 (\d{3})/u.exec(head) ?? []
  return {
    status: status === undefined ? null : Number(status),
    head,
    body: split < 0 ? "" : text.slice(split + 4),
    milliseconds
  }
}
