/** The answers of the server that the client reads. Anything else counts as no answer. */

/** One text, or several texts by name that are used together. */
export type Wording = string | Readonly<Record<string, string>>

export interface Instruction {
  readonly id: string
  readonly wording: Wording
}

export interface LeaseAnswer {
  readonly id: string
  readonly key: string
  readonly n: number
  readonly instruction: string
  readonly wording: Wording
  readonly probability: number | null
  readonly replaces: string | null
  readonly closesAt: string | null
}

export interface LeasesAnswer {
  readonly cohort: string
  readonly incumbent: string | null
  readonly leases: ReadonlyArray<LeaseAnswer>
}

/** The state of a cohort: a sealed one gives no new leases, the rewards of a closed one are counted. */
export interface CohortState {
  readonly cohort: string
  readonly state: "open" | "sealed" | "closed"
  /** Null, like `reported`, if the cohort was closed before. */
  readonly leases: number | null
  readonly reported: number | null
}

/** `rewound` is false if the request was already done. */
export interface Rewound {
  readonly branch: number
  readonly rewound: boolean
}

/** The fields of a request that the answer must repeat. */
export interface Asked {
  readonly key: string
  readonly n: number
  readonly instructions: number
}

/** The leases of the requests, in their order: at most `instructions` of each, and any number of them in a `fullBatch` cohort. */
export const leases =
  (asked: ReadonlyArray<Asked>, fullBatch: boolean | undefined) =>
  (body: unknown): LeasesAnswer | undefined => {
    const { cohort, incumbent, leases } = fields(body)
    if (!isText(cohort) || !Array.isArray(leases)) return undefined
    const requests = new Map(asked.map((one) => [one.key, one]))
    // The key of a further lease on a question starts with the key of its request.
    const requestOf = (key: string) => requests.get(key) ?? requests.get(key.replace(/#\w+$/, ""))
    const given = all(leases, (one): LeaseAnswer | undefined => {
      const { closesAt, key, lease: id, n, probability, replaces } = fields(one)
      const used = instruction(one)
      return used !== undefined &&
        isText(id) &&
        isText(key) &&
        isNumber(n) &&
        n === requestOf(key)?.n &&
        isNumber(probability) &&
        probability > 0 &&
        probability <= 1
        ? {
            id,
            key,
            n,
            probability,
            instruction: used.id,
            wording: used.wording,
            replaces: isText(replaces) ? replaces : null,
            closesAt: isText(closesAt) ? closesAt : null
          }
        : undefined
    })
    if (!given) return undefined
    const own = (request: Asked) => given.filter(({ key }) => requestOf(key) === request)
    if (fullBatch || asked.every((one) => own(one)[0]?.key === one.key && !own(one)[one.instructions]))
      return { cohort, incumbent: isText(incumbent) ? incumbent : null, leases: asked.flatMap(own) }
  }

/** The instruction of a lease, or the incumbent. */
export const instruction = (body: unknown): Instruction | undefined => {
  const { id, text, texts } = fields(fields(body).instruction)
  const wording = isText(text) ? text : isTexts(texts) ? texts : undefined
  return isText(id) && wording !== undefined ? { id, wording } : undefined
}

export const isRewound = (value: unknown): value is Rewound => {
  const { branch, rewound } = fields(value)
  return isNumber(branch) && typeof rewound === "boolean"
}

export const isCohort = (value: unknown): value is CohortState => {
  const { cohort, leases, reported, state } = fields(value)
  return isText(cohort) && isText(state) && [leases, reported].every((one) => one == null || isNumber(one))
}

/** The text of a refusal by the server, with all its fields; undefined for other bodies. */
export const problem = (body: unknown): string | undefined => {
  const { type, title = type, detail = title, status: _, ...others } = fields(body)
  return isText(type) && type.startsWith("urn:inspo:")
    ? [detail, ...Object.entries(others).map(([name, value]) => `${name}: ${textOf(value)}`)].join("; ")
    : undefined
}

/** A value as readable text. */
export const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing")

/** A server's text for a terminal or a log: short, and without control characters. */
export const printable = (text: string): string => text.slice(0, 1000).replace(/[\p{C}\p{Z}]+/gu, " ")

/** Reads every item; undefined if one cannot be read. */
export const all = <A, B>(
  some: ReadonlyArray<A>,
  read: (one: A, index: number) => B | undefined
): ReadonlyArray<B> | undefined => {
  const done: Array<B> = []
  for (const one of some) {
    const made = read(one, done.length)
    if (made === undefined) return undefined
    done.push(made)
  }
  return done
}

/** The fields of a value; none if it is not an object. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> => Object(value)

export const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const isNumber = (value: unknown): value is number => typeof value === "number"

const isTexts = (value: unknown): value is Readonly<Record<string, string>> => {
  const texts = Object.values(fields(value))
  return typeof value === "object" && !Array.isArray(value) && texts.length > 0 && texts.every(isText)
}
