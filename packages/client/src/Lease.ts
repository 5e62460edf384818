import type { Wording } from "./Wire.ts"

/** A turn of a conversation. */
export interface Message {
  readonly role: string
  readonly content: string
}

/** What may be told beside a reward. */
export interface Details {
  /** Which sample of the lease, from 0; required where it covers several. */
  readonly sample?: number | undefined
  /** What was good or bad, in words: what new instructions are written from. */
  readonly feedback?: string
  readonly transcript?: string | ReadonlyArray<Message>
  readonly goldenAnswers?: ReadonlyArray<string>
  readonly tokens?: number
  /** US dollars. */
  readonly usd?: number
  readonly policyVersion?: string
}

/** A reward by the id of its lease: exactly one of `value`, `failed` and `abandoned`. */
export interface Reward extends Details {
  readonly lease: string
  /** In [0, 1], or the population's `rewardRange`. */
  readonly value?: number
  /** The environment failed, so that nothing is known of the instruction. */
  readonly failed?: true
  /** The instruction was not used. */
  readonly abandoned?: true
}

export interface Given {
  readonly population: string
  readonly key: string
  readonly n: number
  /** Null where the server gave out no lease. */
  readonly id: string | null
  readonly cohort: string | null
  /** Null where it is the caller's fallback. */
  readonly instruction: string | null
  readonly wording: Wording
  readonly probability: number | null
  readonly replaces: string | null
  readonly closesAt: string | null
}

/** One instruction for one unit of work. */
export class Lease {
  declare readonly population: string
  declare readonly key: string
  /** Samples that it covers. */
  declare readonly n: number
  /** What the server calls the lease; with it, `Inspo.reward` rewards it from anywhere. Null where it gave out none. */
  declare readonly id: string | null
  declare readonly cohort: string | null
  /** The id of the instruction; null where it is the caller's fallback. */
  declare readonly instruction: string | null
  /** With which the instruction was drawn, in (0, 1]; null without a lease. */
  declare readonly probability: number | null
  /** The id of the instruction that its `sticky` key had first and that has left the population; null where it keeps its own. */
  declare readonly replaces: string | null
  /** From when on a reward is late, as ISO 8601; null while nobody knows. */
  declare readonly closesAt: string | null
  readonly #wording: Wording
  readonly #tell: (reward: Omit<Reward, "lease">) => void

  constructor({ wording, ...given }: Given, tell: (reward: Omit<Reward, "lease">) => void) {
    Object.assign(this, given)
    this.#wording = wording
    this.#tell = tell
  }

  /** False where the server did not answer in time: the work goes on with the last incumbent or the fallback, and is not counted. */
  get leased(): boolean {
    return this.id !== null
  }

  /** The instruction. Throws where it has several texts. */
  get text(): string {
    if (typeof this.#wording === "string") return this.#wording
    throw new TypeError(`the instruction has the texts ${Object.keys(this.#wording).join()}; read lease.texts`)
  }

  /** The texts of the instruction by their names. Throws where it has but one. */
  get texts(): Readonly<Record<string, string>> {
    if (typeof this.#wording !== "string") return this.#wording
    throw new TypeError("the instruction has one text; read lease.text")
  }

  /**
   * Queues a reward, in [0, 1] or the population's `rewardRange`; resolves at once. Without a lease nothing is
   * told. Throws where `sample` is missing though the lease covers several, or none of them.
   */
  reward(value: number, details: Details = {}): Promise<void> {
    return this.#report({ ...details, value })
  }

  /** Queues that the environment failed, as {@link reward} does a reward. */
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
    this.#tell(reward)
    return Promise.resolve()
  }
}
