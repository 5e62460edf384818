/** What is to be told to a server about one population, in order, until it is acknowledged. */
import type { Ask, Failure, Result } from "./Transport.ts"
import * as Wire from "./Wire.ts"

/** A reward, or a control that has its place among them. */
export interface Item {
  readonly kind: "reward" | "close" | "rewind"
  readonly json: string
  /** What is to be done once all answers of a request were read; undefined where what the server said is no answer to it. */
  readonly read: (answer: unknown) => (() => void) | undefined
  /** Told why it will not be sent any more. */
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
  /** Called for every try that failed, and for what waits when the process ends. */
  readonly report: (kind: "waiting" | "lost", message: string) => void
}

export interface Outbox {
  readonly push: (item: Item) => void
  /** Tries again now. */
  readonly wake: () => void
  readonly pending: () => number
  /** Resolves as soon as nothing is pending; undefined where nothing is. */
  readonly empty: () => Promise<void> | undefined
}

/** The most rewards in one request, as the server allows, and the characters after which no further one is put in. */
const mostRewards = 1024
const manyCharacters = 2 ** 20
/** How long rewards are gathered that come faster than they are answered, in milliseconds. */
const gathering = 10
/** How long one request may take, in milliseconds. */
const defaultTimeout = 10_000
/** After so many refusals by something before the server a reward is dropped, so that it keeps up no others. */
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
        // Where more came meanwhile, yet more will: a request costs as much as many rewards.
        if (queue.at(-1)?.kind === "reward" && queue.length < size) await pause(gathering, 0)
        continue
      }
      sending = 0
      report("waiting", answer.reason)
      if (isFinal(answer)) {
        // One that is refused keeps back no others: halves find it.
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
    // At once, so that nothing is queued meanwhile that nobody would send.
    running = undefined
    ends.delete(end)
  }

  /** As long as the server asked for; else it can be cut short. */
  const pause = (own: number, asked: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(own, asked))
      // Waiting for a server that fails keeps no program from ending. Timers are numbers outside of Node.
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

/** What is called when the process ends: of each outbox in which something waits. It keeps no process alive. */
const ends = new Set<() => void>()

declare const process: { readonly on?: (event: "exit", listener: () => void) => void } | undefined

// Only some platforms have processes.
if (typeof process === "object")
  process.on?.("exit", () => {
    for (const end of ends) end()
  })

/** Items in order. Of too many the oldest that are not on their way are dropped. */
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
    /** The first rewards, with what closes their cohort if that comes next; or a rewind. */
    batch: (size: number): ReadonlyArray<Item> => {
      let count = 0
      let length = 0
      while (queue[count]?.kind === "reward" && count < size && (count === 0 || length < manyCharacters))
        length += queue[count++]?.json.length ?? 0
      return queue.slice(0, count === 0 || (queue[count]?.kind === "close" && count < size) ? count + 1 : count)
    }
  }
}

/** Sends items; the answer is what is to be done with what the server said of each. */
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

/** Whether the same request would be refused again, by its content. */
const isFinal = ({ refused, status }: Failure): boolean =>
  (refused ? /^4(?!01|03|29)/u : /^4(?!08|25|29)/u).test(String(status))

/** Doubled up to 30 s, and shortened by up to a half, so that clients do not come all at once. */
const backoff = (first: number, failures: number): number => {
  const [chance = 0] = crypto.getRandomValues(new Uint8Array(1))
  return Math.min(first * 2 ** failures, 30_000) * (1 - chance / 510)
}
