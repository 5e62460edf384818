/** What goes over the wire, as far as a client reads it. An answer that is none of these is taken for no answer. */

/** One text, or several by name that are used together. */
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

/** Leases that begin with these keys, in their order; after them come those of candidates that are tried. */
export const leases =
  (keys: ReadonlyArray<string>) =>
  (body: unknown): LeasesAnswer | undefined => {
    const { cohort, incumbent, leases, trials } = fields(body)
    if (!isText(cohort) || !Array.isArray(leases)) return undefined
    const given = all(leases.concat(trials ?? []), lease)
    return given !== undefined && keys.every((key, index) => key === given[index]?.key)
      ? { cohort, incumbent: isText(incumbent) ? incumbent : null, leases: given }
      : undefined
  }

const lease = (one: unknown): LeaseAnswer | undefined => {
  const { closesAt, key, lease: id, n, probability } = fields(one)
  const given = instruction(one)
  return given !== undefined &&
    isText(id) &&
    isText(key) &&
    isNumber(n) &&
    (isNumber(probability) || probability === null)
    ? {
        id,
        key,
        n,
        probability,
        instruction: given.id,
        wording: given.wording,
        closesAt: isText(closesAt) ? closesAt : null
      }
    : undefined
}

/** That of a lease, or the incumbent. */
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
  const { cohort, state } = fields(value)
  return isText(cohort) && isText(state)
}

/** What a refusal of the server itself says, undefined for one of something before it. */
export const problem = (body: unknown): string | undefined => {
  const { detail, title, type } = fields(body)
  return isText(type) && type.startsWith("urn:inspo:") ? String(detail ?? title) : undefined
}

/** What each of some is read as, undefined where one cannot be. */
export const all = <A, B>(
  some: ReadonlyArray<A>,
  read: (one: A, index: number) => B | undefined
): ReadonlyArray<B> | undefined => {
  const done = some.flatMap((one, index) => read(one, index) ?? [])
  return done.length === some.length ? done : undefined
}

/** The fields of a value, none where it is no object. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> => Object(value)

export const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const isNumber = (value: unknown): value is number => typeof value === "number"

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && !Array.isArray(value) && isSome(Object.values(value ?? {}))

const isSome = (texts: ReadonlyArray<unknown>): boolean => texts.length > 0 && texts.every(isText)
