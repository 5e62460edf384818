import type { LeaseAnswer, Wording } from "./Wire.ts"

/** A turn of a conversation. */
export interface Message {
  readonly role: string
  readonly content: string
}

/** What a reward may include. */
export interface Details {
  /** Which sample of the lease, from 0; required where it covers several. */
  readonly sample?: number | undefined
  /** What was good or bad, in words. The proposer writes new instructions from it. */
  readonly feedback?: string
  readonly transcript?: string | ReadonlyArray<Message>
  readonly goldenAnswers?: ReadonlyArray<string>
  readonly tokens?: number
  /** US dollars. */
  readonly usd?: number
  /** Further numbers, such as `latency` in seconds, which guardrails bound. */
  readonly metrics?: Readonly<Record<string, number>>
  readonly policyVersion?: string
}

/** A reward by the id of its lease: exactly one of `value`, `failed` and `abandoned`. */
export interface Reward extends Details {
  readonly lease: string
  /** In [0, 1], or the population's `rewardRange`. */
  readonly value?: number
  /** The environment failed: the result says nothing about the instruction. */
  readonly failed?: true
  /** The instruction was not used. */
  readonly abandoned?: true
}

export interface Given extends Omit<LeaseAnswer, "id" | "instruction"> {
  readonly population: string
  /** Null without a lease. */
  readonly id: string | null
  readonly cohort: string | null
  /** Null for the caller's fallback. */
  readonly instruction: string | null
}

/** One instruction for one unit of work. */
export class Lease {
  declare readonly population: string
  declare readonly key: string
  /** The samples that the lease covers. */
  declare readonly n: number
  /** The id of the lease, with which any process can call `Inspo.reward`. Null without a lease. */
  declare readonly id: string | null
  declare readonly cohort: string | null
  /** The id of the instruction; null for the caller's fallback. */
  declare readonly instruction: string | null
  /** The probability with which the instruction was drawn, in (0, 1]; null without a lease. */
  declare readonly probability: number | null
  /** The removed instruction that the `sticky` key had before; null if it did not change. */
  declare readonly replaces: string | null
  /** The time from which a reward is late, as ISO 8601; null if it is not known yet. */
  declare readonly closesAt: string | null
  readonly #wording: Wording
  readonly #send: (reward: Omit<Reward, "lease">) => void

  constructor({ wording, ...given }: Given, send: (reward: Omit<Reward, "lease">) => void) {
    Object.assign(this, given)
    this.#wording = wording
    this.#send = send
  }

  /** False if the server did not respond in time: the text is the last incumbent or the fallback, and the work is not counted. */
  get leased(): boolean {
    return this.id !== null
  }

  /** The text of the instruction. Throws if it has several texts. */
  get text(): string {
    if (typeof this.#wording === "string") return this.#wording
    throw new TypeError(`the instruction has the texts ${Object.keys(this.#wording).join()}; read lease.texts`)
  }

  /** The texts of the instruction by name. Throws if it has only one text. */
  get texts(): Readonly<Record<string, string>> {
    if (typeof this.#wording !== "string") return this.#wording
    throw new TypeError("the instruction has one text; read lease.text")
  }

  /**
   * Queues a reward, in [0, 1] or the population's `rewardRange`; resolves at once. Without a lease nothing is sent. Throws if
   * `sample` is not one of the lease's samples, or is missing for a lease of several.
   */
  reward(value: number, details: Details = {}): Promise<void> {
    return this.#report({ ...details, value })
  }

  /** Queues that the environment failed, as {@link reward} queues a reward. */
  fail(details: Details = {}): Promise<void> {
    return this.#report({ ...details, failed: true })
  }

  /** Queues that the instruction was not used, for all samples or one of them. */
  abandon({ sample }: Pick<Details, "sample"> = {}): Promise<void> {
    if (sample !== undefined || this.n === 1) return this.#report({ sample, abandoned: true })
    for (let one = 0; one < this.n; one++) void this.#report({ sample: one, abandoned: true })
    return Promise.resolve()
  }

  #report(reward: Omit<Reward, "lease">): Promise<void> {
    const { sample } = reward
    if (sample === undefined ? this.n > 1 : !(Number.isInteger(sample) && sample >= 0 && sample < this.n))
      throw new RangeError(`sample is ${sample}; expected one of ${this.n}, from 0`)
    this.#send(reward)
    return Promise.resolve()
  }
}
