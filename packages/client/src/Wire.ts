/** What goes over the wire, as far as a client reads it. An answer that is none of these is taken for no answer. */

/** One text, or several by name that are used together. */
export type Wording = string | Readonly<Record<string, string>>

export interface Instruction {
  readonly id: string
  readonly wording: Wording
}

export interface LeaseAnswer {
  readonly lease: string
  readonly key: string
  readonly n: number
  readonly instruction: Instruction
  readonly probability: number | null
  readonly closesAt: string | null
}

export interface LeasesAnswer {
  readonly cohort: string
  readonly incumbent: string | null
  readonly leases: ReadonlyArray<LeaseAnswer>
}

/** The state of a cohort: a sealed one gives out no new leases, a closed one is folded into the evidence. */
export interface CohortState {
  readonly cohort: string
  readonly state: "open" | "sealed" | "closed"
  /** Null, as `reported` is, where the cohort was closed before. */
  readonly leases: number | null
  readonly reported: number | null
}

/** `rewound` is false where the request was known. */
export interface Rewound {
  readonly branch: number
  readonly rewound: boolean
}

export interface RewardResult {
  readonly outcome: string
  readonly refusal: unknown
}

export interface RewardsAnswer {
  readonly results: ReadonlyArray<RewardResult>
  readonly cohort: CohortState | null
}

/** Leases that begin with these keys, in their order; after them come those of candidates that are tried. */
export const leases =
  (keys: ReadonlyArray<string>) =>
  (body: unknown): LeasesAnswer | undefined => {
    if (!isRecord(body) || !isText(body.cohort) || !Array.isArray(body.leases)) return undefined
    const { cohort, incumbent, trials } = body
    const given: ReadonlyArray<unknown> = body.leases.concat(trials ?? [])
    const leases = given.flatMap(lease)
    return leases.length === given.length && keys.every((key, index) => key === leases[index]?.key)
      ? { cohort, incumbent: isText(incumbent) ? incumbent : null, leases }
      : undefined
  }

const lease = (one: unknown): ReadonlyArray<LeaseAnswer> => {
  if (!isRecord(one) || !isText(one.lease) || !isText(one.key)) return []
  const { closesAt, key, lease, n, probability } = one
  if (typeof n !== "number" || (typeof probability !== "number" && probability !== null)) return []
  const given = instruction(one.instruction)
  return given === undefined
    ? []
    : [{ lease, key, n, probability, instruction: given, closesAt: isText(closesAt) ? closesAt : null }]
}

export const incumbent = (body: unknown): Instruction | undefined =>
  isRecord(body) ? instruction(body.instruction) : undefined

/** Results of so many rewards, with the state of the cohort where one was to be closed. */
export const rewards =
  (count: number, closes: boolean) =>
  (body: unknown): RewardsAnswer | undefined => {
    if (!isRecord(body) || !Array.isArray(body.results) || body.results.length !== count) return undefined
    const results = body.results.flatMap((one: unknown) =>
      isRecord(one) && isText(one.outcome) ? [{ outcome: one.outcome, refusal: one.refusal }] : []
    )
    const cohort = isCohort(body.cohort) ? body.cohort : null
    return results.length === count && (cohort !== null || !closes) ? { results, cohort } : undefined
  }

export const rewound = (body: unknown): Rewound | undefined => (isRewound(body) ? body : undefined)

/** Whether an answer is a refusal of the server itself, and not of something before it. */
export const isProblem = (body: unknown): body is Problem =>
  isRecord(body) && isText(body.type) && body.type.startsWith("urn:inspo:")

export interface Problem {
  readonly type: string
  readonly detail?: unknown
  readonly title?: unknown
}

const instruction = (given: unknown): Instruction | undefined => {
  if (!isRecord(given) || !isText(given.id)) return undefined
  const { id, text, texts } = given
  if (isText(text)) return { id, wording: text }
  return isTexts(texts) ? { id, wording: texts } : undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.keys(value).length > 0 && Object.values(value).every(isText)

const isCohort = (value: unknown): value is CohortState =>
  isRecord(value) && isText(value.cohort) && isText(value.state)

const isRewound = (value: unknown): value is Rewound =>
  isRecord(value) && typeof value.branch === "number" && typeof value.rewound === "boolean"
