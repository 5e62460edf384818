/// <reference lib="esnext.disposable" preserve="true" />
import { type Given, Lease, type Reward } from "./Lease.ts"
import * as Outbox from "./Outbox.ts"
import * as Transport from "./Transport.ts"
import * as Wire from "./Wire.ts"

export interface Options {
  /** Addresses of the servers, tried in turn. */
  readonly urls: ReadonlyArray<string>
  readonly apiKey?: string
  /** How long a call for a lease or the incumbent may take, in milliseconds; 200 by default. */
  readonly timeout?: number
  /** The pause before failed rewards are sent again, in milliseconds; 500 by default. Doubles each time, up to 30 s. */
  readonly retryDelay?: number
  /** The most rewards of a population that wait to be sent; 10,000 by default. The oldest are dropped first. */
  readonly maxQueued?: number
  /** The most characters of these rewards; 16 Mi by default. */
  readonly maxQueuedCharacters?: number
  /** Called for each problem. By default problems are written to the console, each kind once a minute. */
  readonly onProblem?: (problem: Problem) => void
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * `unleased`: a call continued without a lease; `waiting`: rewards could not be sent and are retried; `dropped`: the client stopped
 * retrying a reward, a close or a rewind; `lost`: the process ended before rewards were acknowledged. The others are the server's
 * outcomes of a reward.
 */
export interface Problem {
  readonly kind: "unleased" | "waiting" | "dropped" | "lost" | "refused" | "unknown" | "superseded"
  readonly population: string
  readonly message: string
  /** Whether the server would refuse the same call again: the population does not exist, or the request is invalid. */
  readonly final: boolean
}

/** Leases and rewards by their outcome since the client was created; `pending` rewards wait to be sent. */
export interface Counts {
  readonly leased: number
  readonly unleased: number
  readonly accepted: number
  readonly duplicate: number
  readonly late: number
  readonly superseded: number
  readonly unknown: number
  readonly refused: number
  readonly dropped: number
  readonly pending: number
}

export interface LeaseRequest {
  /** The caller's id of the work: the same key in a cohort gets the same lease. Random by default. */
  readonly key?: string
  /** Samples that the lease covers; 1 by default. */
  readonly n?: number
  /** Instructions that the question is asked under; 1 by default. Keys of further leases start with the key of the first and `#`. */
  readonly instructions?: number
  readonly stratum?: string
  /**
   * Requests with the same sticky key, such as the turns of a conversation, get the same instruction and count as one unit. If the
   * instruction had to change, `Lease.replaces` is set.
   */
  readonly sticky?: string
  readonly question?: { readonly id: string; readonly text?: string; readonly goldenAnswers?: ReadonlyArray<string> }
}

export interface CallOptions {
  /** The instruction until a server has returned an incumbent: a text, or several by name. */
  readonly fallback?: Wire.Wording
  /** In milliseconds; replaces the client's timeout. */
  readonly timeout?: number
}

export interface LeaseOptions extends CallOptions {
  /** The trainer's name of a training step, such as `train/12`. */
  readonly cohort?: string
  /** `train` by default. Validation always gets the incumbent. */
  readonly phase?: "train" | "validation"
  readonly policyVersion?: string
  /**
   * These are all requests of the cohort: the server assigns them together, as a run assigns a step. Some questions get leases under
   * several instructions, with keys that start with the key of their question and `#`; as many requests get no lease.
   */
  readonly fullBatch?: boolean
}

/** An instruction to use outside training; `id` is null for the fallback, `fresh` is false if no server returned it just now. */
export interface Incumbent {
  readonly id: string | null
  readonly wording: Wire.Wording
  readonly fresh: boolean
}

/** Thrown if a call has nothing to return: no server has ever responded, and the call has no fallback. */
export class NoInstruction extends Error {
  override readonly name = "NoInstruction"
}

/**
 * A client of the instruction server. `lease`, `leases` and `incumbent` take no longer than their timeout. Without a response they
 * return the last incumbent, else the fallback. They reject only invalid calls, and calls without any instruction to return.
 */
export class Inspo {
  readonly #ask: Transport.Ask
  readonly #options: Required<Omit<Options, "urls" | "apiKey" | "fetch">>
  readonly #flushing = new Set<() => void>()
  readonly #populations = new Map<string, Population>()
  readonly #counts = { leased: 0, unleased: 0, ...zeros }

  /** Throws if an address or the key is invalid, or a number is not above 0. */
  constructor({
    apiKey,
    fetch = (input, init) => globalThis.fetch(input, init),
    maxQueued = 10_000,
    retryDelay = 500,
    maxQueuedCharacters = 2 ** 24,
    onProblem = toConsole(),
    timeout = 200,
    urls
  }: Options) {
    check(urls.length > 0 && urls.every(isAddress), "urls", urls, "http URLs without credentials")
    check(apiKey === undefined || /^[!-~]+$/u.test(apiKey), "apiKey", "unfit", "visible ASCII")
    const numbers = { timeout, retryDelay, maxQueued, maxQueuedCharacters }
    for (const [name, value] of Object.entries(numbers)) check(value > 0, name, value, "a number above 0")
    this.#options = { ...numbers, onProblem }
    this.#ask = Transport.make({
      urls: urls.map((url) => url.replace(/\/+$/u, "")),
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` })
      },
      fetch
    })
  }

  get counts(): Counts {
    return { ...this.#counts, pending: this.#pending() }
  }

  /** Leases one instruction for one unit of work. Rejects with {@link NoInstruction} if there is no instruction to return. */
  async lease(
    population: string,
    options: Omit<LeaseRequest, "instructions"> & Omit<LeaseOptions, "fullBatch"> = {}
  ): Promise<Lease> {
    const [lease] = await this.leases(population, [options], options)
    if (!lease) throw new NoInstruction(`no instruction of ${population}`)
    return lease
  }

  /**
   * Leases instructions for up to 1,024 units of work in one request, in their order: for all of them, or for none. Where a question is
   * asked under several instructions, match the leases by their keys.
   */
  async leases(
    population: string,
    requests: ReadonlyArray<LeaseRequest>,
    { cohort, fallback, phase, policyVersion, timeout = this.#options.timeout, fullBatch }: LeaseOptions = {}
  ): Promise<ReadonlyArray<Lease>> {
    const own = this.#of(population)
    check(requests.length > 0 && requests.length <= 1024, "requests", requests.length, "1 to 1,024")
    const keyed = requests.map(({ instructions = 1, key = crypto.randomUUID(), n = 1, question, sticky, stratum }) => ({
      instructions,
      key,
      n,
      question,
      sticky,
      stratum
    }))
    for (const { n } of keyed) checkWhole("n", n)

    const learned = (answer: Wire.LeasesAnswer) => {
      this.#learn(own, answer)
      return answer.leases.map((given) => this.#lease({ ...given, population, cohort: answer.cohort }))
    }

    const isUsable = ({ value }: Transport.Result<Wire.LeasesAnswer>) =>
      value?.leases.every((lease) => fits(lease, fallback))
    const asking = this.#call(
      own,
      "leases",
      JSON.stringify({ cohort, phase, policyVersion, fullBatch, requests: keyed }),
      Wire.leases(keyed, fullBatch),
      timeout,
      async (answer) => {
        // If another server responded to the same request, it returned these leases.
        if (isUsable(await asking)) return
        // Other calls may use leases under keys of the caller.
        for (const lease of learned(answer)) if (requests.every(({ key }) => !key)) void lease.abandon()
      },
      keyed.length
    )
    const result = await asking
    if (result.value) {
      const given = learned(result.value)
      if (isUsable(result)) {
        this.#counts.leased += given.length
        return given
      }
      for (const lease of given) void lease.abandon()
    }
    const { id: instruction, wording } = this.#instead(population, fallback, result)
    this.#counts.unleased += keyed.length
    return keyed.map(({ key, n }) =>
      this.#lease({
        id: null,
        key,
        n,
        probability: null,
        instruction,
        wording,
        replaces: null,
        closesAt: null,
        population,
        cohort: cohort ?? null
      })
    )
  }

  /** The instruction to use outside training: the present or last known incumbent, else the fallback. */
  async incumbent(
    population: string,
    { fallback, timeout = this.#options.timeout }: CallOptions = {}
  ): Promise<Incumbent> {
    const result = await this.#fetch(this.#of(population), timeout)
    return result.value !== undefined && fits(result.value, fallback)
      ? { ...result.value, fresh: true }
      : { ...this.#instead(population, fallback, result), fresh: false }
  }

  /** Queues a reward by the id of its lease, for example from another process; resolves at once. */
  reward(population: string, reward: Reward): Promise<void> {
    const { outbox } = this.#of(population)
    const count = (outcome: string, detail: unknown) => this.#count(population, "a reward", outcome, detail)
    try {
      outbox.push({
        kind: "reward",
        json: encode(reward),
        read: (answer) => {
          const { outcome, refusal } = Wire.fields(answer)
          return Wire.isText(outcome) ? () => count(outcome, refusal) : undefined
        },
        dropped: (why) => count("dropped", why)
      })
    } catch (error) {
      count("refused", Transport.messageOf(error))
    }
    return Promise.resolve()
  }

  /**
   * Closes a cohort, at once or as soon as `groups` of its leases are fully reported by any process. Sent after all rewards that were
   * queued before. Null if the server did not confirm within the timeout (30 s) or refused; it may still be sent later.
   */
  close(
    population: string,
    cohort: string,
    { groups, timeout }: { readonly groups?: number; readonly timeout?: number } = {}
  ): Promise<Wire.CohortState | null> {
    if (groups !== undefined) checkWhole("groups", groups)
    return this.#control(population, timeout, "close", { cohort, groups }, Wire.isCohort)
  }

  /**
   * Returns to the end of the cohort `to`, when a trainer returns to a checkpoint. Happens once per `requestId`, however many ranks
   * send it. Sent after everything that was queued before; null as for {@link close}.
   */
  rewind(
    population: string,
    { requestId, timeout, to }: { readonly to: string; readonly requestId: string; readonly timeout?: number }
  ): Promise<Wire.Rewound | null> {
    return this.#control(population, timeout, "rewind", { to, requestId }, Wire.isRewound)
  }

  /** Waits until everything queued is acknowledged, at most for the timeout (30 s by default); resolves to how much is not. */
  async flush({ timeout = defaultTimeout }: { readonly timeout?: number } = {}): Promise<number> {
    for (const queue of this.#flushing) queue()
    const all = [...this.#populations.values()].map(async ({ fetching, outbox }) => {
      outbox.wake()
      await outbox.empty()
      await fetching
    })
    await Transport.within(timeout, Promise.all(all))
    return this.#pending()
  }

  /** Calls `queue` at the start of each flush, for example to queue delayed rewards; returns a function that stops this. */
  onFlush(queue: () => void): () => void {
    this.#flushing.add(queue)
    return () => this.#flushing.delete(queue)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
  }

  /** Sends a request, unless the server asked to wait; `late` gets a response that arrives after the timeout. */
  async #call<A extends object>(
    population: Population,
    route: string,
    body: string | undefined,
    read: (answer: unknown) => A | undefined,
    timeout: number,
    late?: (value: A) => void,
    instructions?: number
  ): Promise<Transport.Result<A>> {
    check(timeout > 0, "timeout", timeout, "a number above 0")
    const wait = population.notBefore - performance.now()
    if (wait > 0) return Transport.failure(`asked to wait ${Math.ceil(wait)} ms`)
    const result = await this.#ask(`${population.path}/${route}`, body, read, timeout, late, instructions)
    if (result.value === undefined && result.retryAfter > 0)
      population.notBefore = performance.now() + result.retryAfter
    return result
  }

  #lease(given: Given): Lease {
    return new Lease(given, (reward) => {
      if (given.id !== null) void this.reward(given.population, { ...reward, lease: given.id })
    })
  }

  /** The instruction to use without a usable response. */
  #instead(population: string, fallback: Wire.Wording | undefined, result: Transport.Result<unknown>): Instead {
    const why = Wire.printable(
      result.value === undefined ? result.reason : "the instruction lacks texts of the fallback"
    )
    const { known } = this.#of(population)
    this.#report("unleased", population, why, Transport.isFinal(result))
    if (known !== undefined && fits(known, fallback)) return known
    if (fallback !== undefined) return { id: null, wording: fallback }
    throw new NoInstruction(`no instruction of ${population}: ${why}; call with { fallback }`)
  }

  /** Stores the incumbent; fetches it if its text is not known. */
  #learn(population: Population, { incumbent, leases }: Wire.LeasesAnswer): void {
    const own = leases.find(({ instruction }) => instruction === incumbent)
    if (own) population.known = { id: own.instruction, wording: own.wording }
    if (incumbent === null || population.known?.id === incumbent) return
    population.fetching ??= this.#fetch(population, 10_000).finally(() => {
      population.fetching = undefined
    })
  }

  async #fetch(population: Population, timeout: number): Promise<Transport.Result<Wire.Instruction>> {
    const result = await this.#call(population, "incumbent", undefined, Wire.instruction, timeout)
    population.known = result.value ?? population.known
    return result
  }

  #of(name: string): Population {
    const made = this.#populations.get(name)
    if (made !== undefined) return made
    check(/^[A-Za-z0-9][\w.-]{0,199}$/u.test(name), "population", name, "letters, digits and . _ -")
    const path = `/v1/populations/${name}`
    const report = (kind: "waiting" | "lost", message: string) => this.#report(kind, name, message)
    const outbox = Outbox.make({ ...this.#options, ask: this.#ask, path, report })
    const population: Population = { path, outbox, notBefore: 0 }
    this.#populations.set(name, population)
    return population
  }

  async #control<A>(
    population: string,
    timeout: number = defaultTimeout,
    kind: "close" | "rewind",
    body: object,
    is: (answer: unknown) => answer is A
  ): Promise<A | null> {
    const done = new Promise<A | null>((resolve) =>
      this.#of(population).outbox.push({
        kind,
        json: JSON.stringify(body),
        read: (answer) => (is(answer) ? () => resolve(answer) : undefined),
        dropped: (why) => {
          this.#count(population, "a close or rewind", "dropped", why)
          resolve(null)
        }
      })
    )
    return (await Transport.within(timeout, done)) ?? null
  }

  #count(population: string, what: string, outcome: string, detail: unknown): void {
    const known = isOutcome(outcome) ? outcome : "refused"
    this.#counts[known]++
    if (known !== "accepted" && known !== "duplicate" && known !== "late")
      this.#report(known, population, `${what} was ${outcome}${detail === undefined ? "" : `: ${Wire.textOf(detail)}`}`)
  }

  #report(kind: Problem["kind"], population: string, message: string, final = false): void {
    try {
      this.#options.onProblem({ kind, population, message: Wire.printable(message), final })
    } catch {
      // An error of the callback does not fail the call.
    }
  }

  #pending(): number {
    return [...this.#populations.values()].reduce((sum, { outbox }) => sum + outbox.pending(), 0)
  }
}

/** What is known of a population, and the rewards that wait to be sent. */
interface Population {
  readonly path: string
  readonly outbox: Outbox.Outbox
  /** The last incumbent that a server returned. */
  known?: Wire.Instruction | undefined
  /** The earliest time of the next request, if the server asked to wait. */
  notBefore: number
  /** While the incumbent is fetched. */
  fetching?: Promise<unknown> | undefined
}

interface Instead {
  readonly id: string | null
  readonly wording: Wire.Wording
}

/** The default timeout of close, rewind and flush, in milliseconds. */
const defaultTimeout = 30_000

const zeros = { accepted: 0, duplicate: 0, late: 0, superseded: 0, unknown: 0, refused: 0, dropped: 0 }

const isOutcome = (text: string): text is keyof typeof zeros => Object.hasOwn(zeros, text)

const check = (holds: boolean, field: string, value: unknown, expected: string): void => {
  if (!holds) throw new TypeError(`${field} is ${Wire.textOf(value)}; expected ${expected}`)
}

const checkWhole = (field: string, value: number): void =>
  check(Number.isInteger(value) && value > 0, field, value, "a whole number above 0")

const isAddress = (url: string): boolean => URL.canParse(url) && /^https?:[^@]+$/u.test(url)

/** Whether an instruction has the texts that the fallback has. */
const fits = ({ wording }: Pick<Wire.Instruction, "wording">, fallback: Wire.Wording | undefined): boolean =>
  fallback === undefined ||
  (typeof wording === "string" || typeof fallback === "string"
    ? typeof wording === typeof fallback
    : Object.keys(fallback).every((name) => name in wording))

/** A reward as JSON. Throws if it is invalid; JSON has no NaN. */
const encode = (reward: Reward): string => {
  const { abandoned, failed, value } = reward
  if ([value, failed, abandoned].filter((one) => one !== undefined).length !== 1)
    throw new TypeError("expected one of value, failed and abandoned")
  return JSON.stringify(reward, (name, number: unknown) => {
    check(typeof number !== "number" || Number.isFinite(number), name, number, "a finite number")
    // A comparison, which JavaScript lets through.
    return value !== undefined && typeof number === "boolean" ? +number : number
  })
}

/** Writes each kind of problem of a population once a minute. */
const toConsole = (): Required<Options>["onProblem"] => {
  const written = new Map<string, number>()
  return ({ kind, message, population }) => {
    const name = `inspo: ${population}: ${kind}`
    const now = performance.now()
    if (now - (written.get(name) ?? -Infinity) < 60_000) return
    written.set(name, now)
    // oxlint-disable-next-line no-console
    console.warn(`${name}: ${message}`)
  }
}
