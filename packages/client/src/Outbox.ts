/** Rewards and controls of one population, kept in order until a server acknowledges them. */
import type { Ask, Failure, Result } from "./Transport.ts"
import * as Wire from "./Wire.ts"

/** A reward, or a control between rewards. */
export interface Item {
  readonly kind: "reward" | "close" | "rewind"
  readonly json: string
  /** What to do after all answers of a request are read; undefined if the answer is invalid. */
  readonly read: (answer: unknown) => (() => void) | undefined
  /** Called with the reason if the item will not be sent again. */
  readonly dropped: (why: string) => void
}

export interface Options {
  readonly ask: Ask
  readonly path: string
  /** The most items, and characters of them, that are kept. */
  readonly maxQueued: number
  readonly maxQueuedCharacters: number
  /** The pause after the first failure, in milliseconds. */
  readonly retryDelay: number
  /** Called for each failed attempt, and for waiting items when the process ends. */
  readonly report: (kind: "waiting" | "lost", message: string) => void
}

export interface Outbox {
  readonly push: (item: Item) => void
  /** Tries again now. */
  readonly wake: () => void
  readonly pending: () => number
  /** Resolves when nothing is pending; undefined if nothing is. */
  readonly empty: () => Promise<void> | undefined
}

/** The most rewards in one request, which is the server's limit, and the characters after which no more are added. */
const mostRewards = 1024
const manyCharacters = 2 ** 20
/** How long rewards are collected if they arrive faster than they are acknowledged, in milliseconds. */
const gathering = 10
/** How long one request may take, in milliseconds. */
const defaultTimeout = 10_000
/** After so many refusals by something before the server a reward is dropped, so that it does not block others. */
const mostRefusals = 8

export const make = (options: Options): Outbox => {
  const { ask, path, report, retryDelay } = options
  const { add, batch, queue, remove } = bounded(options)
  let wake = () => {}
  let sending = 0
  let size = mostRewards
  let failures = 0
  /** How often something before the server refused the first item. */
  let refusals = 0
  let running: Promise<void> | undefined

  const end = () => report("lost", `${queue.length} rewards wait at exit; call flush() first`)

  const deliver = async () => {
    ends.add(end)
    while (queue.length > 0) {
      const sent = batch(size)
      sending = sent.length
      const answer = await send(ask, path, sent)
      if (answer.value !== undefined) {
        remove(0, sending)
        sending = failures = refusals = 0
        size = Math.min(2 * size, mostRewards)
        for (const acknowledge of answer.value) acknowledge()
        // If more rewards arrived meanwhile, more will follow: one request for many rewards is cheaper.
        if (queue.at(-1)?.kind === "reward" && queue.length < size) await pause(gathering, 0)
        continue
      }
      sending = 0
      report("waiting", answer.reason)
      if (isFinal(answer)) {
        // A refused reward must not block others: halving the batch finds it.
        if (sent.length > 1) {
          size = Math.floor(sent.length / 2)
          continue
        }
        if (answer.refused || answer.status === 413 || ++refusals >= mostRefusals) {
          refusals = 0
          for (const { dropped } of remove(0, 1)) dropped(answer.reason)
          continue
        }
      }
      await pause(backoff(retryDelay, failures++), answer.retryAfter)
    }
    // Synchronous, so that an item queued meanwhile starts a new delivery.
    running = undefined
    ends.delete(end)
  }

  /** Waits as long as the server asked for; without that, `wake` ends the pause. */
  const pause = (own: number, asked: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(own, asked))
      // Waiting for a failing server does not keep the process alive. Outside of Node a timer is a number.
      if (failures > 0 && typeof timer === "object") timer.unref()
      wake = () => {
        if (asked > 0) return
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    push: (item) => {
      add(item, sending)
      if (queue.length > 0) running ??= deliver()
    },
    wake: () => {
      failures = 0
      wake()
    },
    pending: () => queue.length,
    empty: () => running
  }
}

/** Called when the process ends, for each outbox with waiting items. */
const ends = new Set<() => void>()

declare const process: { readonly on?: (event: "exit", listener: () => void) => void } | undefined

// Only some platforms have `process`.
if (typeof process === "object")
  process.on?.("exit", () => {
    for (const end of ends) end()
  })

/** Items in order. If there are too many, the oldest that are not being sent are dropped. */
const bounded = ({ maxQueued, maxQueuedCharacters }: Options) => {
  const queue: Array<Item> = []
  let held = 0

  const remove = (index: number, count: number): ReadonlyArray<Item> =>
    queue.splice(index, count).map((item) => {
      held -= item.json.length
      return item
    })

  const isFull = () => queue.length > maxQueued || held > maxQueuedCharacters

  return {
    queue,
    remove,
    add: (item: Item, sending: number) => {
      queue.push(item)
      held += item.json.length
      while (isFull())
        for (const { dropped } of remove(Math.min(sending, queue.length - 1), 1)) dropped("too many rewards wait")
    },
    /** The first rewards, with the close of their cohort if it follows; or a rewind. */
    batch: (size: number): ReadonlyArray<Item> => {
      let count = 0
      let length = 0
      while (queue[count]?.kind === "reward" && count < size && (count === 0 || length < manyCharacters))
        length += queue[count++]?.json.length ?? 0
      return queue.slice(0, count === 0 || (queue[count]?.kind === "close" && count < size) ? count + 1 : count)
    }
  }
}

/** Sends items; the value is what to do with the answer to each. */
const send = (ask: Ask, path: string, sent: ReadonlyArray<Item>): Promise<Result<ReadonlyArray<() => void>>> => {
  const [first] = sent
  const read = (answers: ReadonlyArray<unknown>) => Wire.all(sent, (item, index) => item.read(answers[index]))
  if (first?.kind === "rewind") return ask(`${path}/rewind`, first.json, (answer) => read([answer]), defaultTimeout)
  const rewards = sent.filter((item) => item.kind === "reward")
  const close = sent[rewards.length]
  const body = `{"rewards":[${rewards.map(({ json }) => json).join()}]${close === undefined ? "" : `,"close":${close.json}`}}`
  const readAll = (answer: unknown) => {
    const { cohort, results } = Wire.fields(answer)
    return Array.isArray(results) && results.length === rewards.length ? read([...results, cohort]) : undefined
  }
  return ask(`${path}/rewards`, body, readAll, defaultTimeout)
}

/** Whether the same request would be refused again because of its content. */
const isFinal = ({ refused, status }: Failure): boolean =>
  (refused ? /^4(?!01|03|29)/u : /^4(?!08|25|29)/u).test(String(status))

/** Doubles up to 30 s, then shortened at random by up to half, so that clients do not retry at the same time. */
const backoff = (first: number, failures: number): number => {
  const [chance = 0] = crypto.getRandomValues(new Uint8Array(1))
  return Math.min(first * 2 ** failures, 30_000) * (1 - chance / 510)
}
