/**
 * A comparison of prompts with a control on the same cases, as a state machine: what is due by the events so far. Pure; the same events
 * give the same decisions, so a comparison goes on from a file of them.
 */
import { Instruction, InvalidInput, Invariant, RandomStream } from "@inspo/domain"
import { Conclude, instructionId } from "@inspo/evolution"
import { Array as Arr, HashSet, Schema } from "effect"
import type { Constraint as Rule } from "@inspo/evolution"
import * as Constraint from "./Constraint.ts"
import { type Ask, type Event, type EventOf, keyOf } from "./Event.ts"
import * as Evidence from "./Evidence.ts"
import * as Protected from "./Protected.ts"
import { assertAsked, keysOf } from "./Search.ts"
import * as Sessions from "./Sessions.ts"
import * as Spent from "./Spent.ts"

/** What a comparison must show: that another prompt is better than the control, or that each is no worse by more than the margin. */
export const Requirement = Schema.Literals(["better", "no-worse"])
export type Requirement = typeof Requirement.Type

export const Looks = Schema.Literals(["anytime", "final"])
export type Looks = typeof Looks.Type

/** What must be equal for a comparison to go on. */
export const Settings = Schema.Struct({
  /** The control first. */
  arms: Schema.NonEmptyArray(Instruction.Content),
  /** Answers of a prompt to a case. */
  samples: Schema.Int,
  /** The difference that is of interest. */
  margin: Schema.Finite,
  /** `anytime` ends as soon as the cases so far decide; `final` asks all, and looks once. */
  looks: Looks,
  requirement: Schema.NullOr(Requirement),
  /** What numbers beside the score may be at most; absent if none is named. */
  constraints: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The most calls of the agent; null for as many as all cases need, besides those that were in flight when a process ended. */
  calls: Schema.NullOr(Schema.Int),
  usd: Schema.NullOr(Schema.Finite),
  randomSeed: Schema.Finite
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

export interface Setup {
  readonly settings: Settings
  /** The cases by their index, in the order in which they are asked: session by session. */
  readonly order: ReadonlyArray<number>
  readonly sessions: Sessions.Sessions
  readonly constraints: ReadonlyArray<Rule.Constraint>
  /** The cases that are protected, by their index. */
  readonly guarded: ReadonlyArray<number>
}

/** The cases of a round: enough for the calls that run at a time. */
const roundCases = ({ looks, samples }: Settings, open: number): number =>
  looks === "final" ? Infinity : Math.max(1, Math.ceil(roundCalls / ((open + 1) * samples)))

const roundCalls = 8

/** Throws `InvalidInput` on settings with which nothing can be compared. */
export const make = (
  settings: Settings,
  cases: number,
  guarded: ReadonlyArray<number> = [],
  sessions: Sessions.Sessions = []
): Setup => {
  const { arms, calls, constraints = [], margin, samples, usd } = settings
  const refuse = (field: string, value: unknown, expected: string) =>
    InvalidInput.refuse({ where: "compare", field, value, expected })
  if (arms.length < 2) refuse("candidates", arms.length - 1, "at least one prompt besides the control")
  if (cases < 1) refuse("cases", cases, "at least one")
  if (!(margin > 0 && margin < 1)) refuse("margin", margin, "a difference above 0 and below 1, such as 0.05")
  InvalidInput.assertCount("compare", "samples", samples, 1)
  if (calls !== null) InvalidInput.assertCount("compare", "budget.calls", calls, 1)
  if (usd !== null && !(Number.isFinite(usd) && usd > 0))
    refuse("budget.usd", usd, "US dollars above 0, or none for no limit")
  const drawn = RandomStream.make(settings.randomSeed, ["cases"]).shuffle(Array.from({ length: cases }, (_, at) => at))
  const order = Sessions.group(sessions, drawn, (index) => index).flat()
  return { settings, order, sessions, guarded, constraints: constraints.map(Constraint.parse) }
}

/** The most calls of the agent: those of the budget, or those with which all can be known. */
export const mostCalls = ({ lost, setup }: Pick<State, "lost" | "setup">): number => {
  const { guarded, order, settings } = setup
  const { arms, calls, samples } = settings
  const guards = guarded.length * Protected.most(guarded.length, riskOf(setup))
  return calls ?? arms.length * (order.length * samples + guards) + lost.calls
}

/** What was known of each prompt but the control after so many calls. */
export interface Look {
  readonly calls: number
  readonly others: ReadonlyArray<{
    readonly cases: number
    readonly sessions: number
    readonly evidence: Conclude.Evidence
  }>
}

export interface State extends Spent.Spent {
  readonly setup: Setup
  readonly answers: Evidence.Answers
  /** Further answers to protected cases. */
  readonly guards: Evidence.Answers
  readonly round: EventOf<"RoundPlanned"> | null
  readonly pending: HashSet.HashSet<string>
  readonly rounds: number
  /** Cases that were asked, in the order of the setup. */
  readonly asked: number
  /** Answers that a cache had. */
  readonly cached: number
  readonly isCut: boolean
  readonly looks: ReadonlyArray<Look>
  /** What is shown of each prompt but the control. A claim that was shown once stays. */
  readonly shown: ReadonlyArray<ReadonlySet<Conclude.Claim>>
  /** What is known of each constraint, of each prompt but the control. What was shown once stays. */
  readonly held: ReadonlyArray<ReadonlyArray<Rule.Found>>
}

export type Due = { readonly _tag: "Ask"; readonly asks: ReadonlyArray<Ask> } | Decision | { readonly _tag: "Conclude" }

interface Decision {
  readonly _tag: "Decide"
  readonly event: EventOf<"RoundPlanned">
}

export const control = instructionId(0)

/** Which of the prompts an id names, the control being the first. */
export const place = ({ settings: { arms } }: Setup, id: Instruction.InstructionId): number =>
  arms.findIndex((_, at) => instructionId(at) === id)

/** The prompts but the control. */
export const others = ({ settings: { arms } }: Setup): ReadonlyArray<Instruction.InstructionId> =>
  arms.slice(1).map((_, at) => instructionId(at + 1))

/** The risk of a wrong claim of each kind about one prompt, so that it is 5 % for all of them together. */
export const riskOf = ({ constraints, guarded, settings: { arms } }: Setup): number =>
  // The score, each constraint and the protected cases share it.
  0.05 / (arms.length - 1) / (1 + constraints.length + Math.sign(guarded.length))

export const begin = (setup: Setup): State => ({
  setup,
  answers: Evidence.noAnswers,
  guards: Evidence.noAnswers,
  ...Spent.nothing,
  round: null,
  pending: HashSet.empty(),
  rounds: 0,
  asked: 0,
  cached: 0,
  isCut: false,
  looks: [],
  shown: others(setup).map(() => new Set()),
  held: others(setup).map(() => [])
})

/** What is due next. */
export const next = (state: State): Due => {
  const { asked, isCut, pending, round, rounds, setup } = state
  if (round !== null) return { _tag: "Ask", asks: round.asks.filter((ask) => HashSet.has(pending, keyOf(ask))) }
  const { order, settings } = setup
  if (isCut || callsLeft(state) <= 0) return { _tag: "Conclude" }
  const step = rounds + 1
  const open = others(setup).filter((_, at) => !isSettled(state, at))
  const cases = wholeSessions(setup, order.slice(asked), roundCases(settings, open.length))
  if (open.length === 0 || cases.length === 0) {
    const asks = guarding(state)
    return asks.length === 0
      ? { _tag: "Conclude" }
      : { _tag: "Decide", event: { _tag: "RoundPlanned", step, kind: "protected", asks } }
  }
  const arms = [control, ...open]
  const asks = cases.flatMap((index, place) =>
    Arr.makeBy(settings.samples, (sample) => {
      // The prompts take turns in being the first, so that an agent which changes meanwhile changes for all.
      const first = (asked + place + sample) % arms.length
      return [...arms.slice(first), ...arms.slice(0, first)].map((prompt) => ({ prompt, case: index, sample }))
    }).flat()
  )
  return { _tag: "Decide", event: { _tag: "RoundPlanned", step, kind: "test", asks } }
}

/** The state after an event. */
export const apply = (before: State, event: Event): State => {
  const state = { ...before, ...Spent.after(before, event) }
  switch (event._tag) {
    case "RoundPlanned": {
      const fresh = event.kind === "protected" ? [] : [...new Set(event.asks.map((ask) => ask.case))]
      if (fresh.some((index, at) => index !== state.setup.order[state.asked + at]))
        throw new Error("the cases are not asked in this order; compare with another file")
      const asked = state.asked + fresh.length
      return { ...state, round: event, rounds: event.step, asked, pending: keysOf(event.asks) }
    }
    case "Obtained":
      assertAsked(state, event)
      return { ...state, cached: state.cached + (event.isCached === true ? 1 : 0) }
    case "Answered":
    case "Missed":
      assertAsked(state, event)
      return closed({
        ...state,
        ...(state.round?.kind === "protected"
          ? { guards: Evidence.add(state.guards, event) }
          : { answers: Evidence.add(state.answers, event) }),
        pending: HashSet.remove(state.pending, keyOf(event))
      })
    case "RoundCut":
      return closed({ ...state, isCut: true, pending: HashSet.empty() })
    case "Failed":
    case "Interrupted":
    case "Started":
      return state
    default:
      throw new Error(`${event._tag} is no event of a comparison`)
  }
}

/** The cases that the control and another prompt answered as often as they are asked. */
export const pairsOf = (
  { answers, asked, setup: { order, settings } }: State,
  other: Instruction.InstructionId
): ReadonlyArray<Evidence.Cluster> =>
  Evidence.clusters(answers, [control, other], order.slice(0, asked)).filter(
    ({ after, before }) => before.length === settings.samples && after.length === settings.samples
  )

/** Pairs by session, which are independent: those whose cases are all answered, since a look must not change what an earlier one saw. */
export const sessionsOf = (
  { order, sessions }: Setup,
  pairs: ReadonlyArray<Evidence.Cluster>
): ReadonlyArray<Evidence.Cluster> => {
  const answered = new Set(pairs.map(({ index }) => index))
  const groups = Sessions.group(sessions, order, (index) => index)
  const whole = new Set(groups.filter((own) => own.every((index) => answered.has(index))).flat())
  return Evidence.ofSessions(
    sessions,
    pairs.filter(({ index }) => whole.has(index))
  )
}

/** The most calls of the agent that may still be made. */
export const callsLeft = ({ made, setup: { settings } }: State): number =>
  settings.calls === null ? Infinity : Math.max(0, settings.calls - made)

/** What is shown of a prompt, with its protected cases and constraints. */
export interface Standing {
  readonly verdict: Conclude.Shown["verdict"]
  /** Whether it meets the requirement; null if there is none, or if neither that nor the contrary is shown. */
  readonly isMet: boolean | null
  readonly cases: Protected.Standing
}

/** A prompt that loses a protected case or breaks a constraint is worse; it is no worse once it is shown to do neither. */
export const standingOf = (state: State, at: number): Standing => {
  const { guards, held, setup, shown } = state
  const [claims = new Set<Conclude.Claim>(), found = []] = [shown[at], held[at]]
  const cases = Protected.standing(guards, [control, instructionId(at + 1)], setup.guarded, riskOf(setup))
  const { requirement } = setup.settings
  const score = { verdict: Conclude.verdictOf(claims), isMet: requirement === null ? null : isMet(requirement, claims) }
  if (cases.lost.length > 0 || found.some((one) => one.isMet === false))
    return { cases, verdict: "worse", isMet: requirement === null ? null : false }
  if (cases.open.length === 0 && found.length === setup.constraints.length && found.every((one) => one.isMet === true))
    return { ...score, cases }
  return {
    cases,
    verdict: isFor(claims) ? "undecided" : score.verdict,
    isMet: score.isMet === true ? null : score.isMet
  }
}

/** Whether the answers to all cases settle what is asked of a prompt; its protected cases are asked then. */
const isSettled = (state: State, at: number): boolean => {
  const { held, setup, shown } = state
  const { requirement } = setup.settings
  const [claims = new Set<Conclude.Claim>(), found = []] = [shown[at], held[at]]
  if (found.some((one) => one.isMet === false)) return true
  const met = requirement === null ? null : isMet(requirement, claims)
  if (met === false || (requirement === null && claims.has("worse"))) return true
  if (found.length < setup.constraints.length || found.some((one) => one.isMet === null)) return false
  return requirement === null ? claims.has("better") || (claims.has("no-worse") && claims.has("no-gain")) : met === true
}

/** Whether a prompt meets a requirement by its score; null if neither that nor the contrary is shown. */
const isMet = (requirement: Requirement, shown: ReadonlySet<Conclude.Claim>): boolean | null => {
  if (shown.has(requirement)) return true
  return shown.has(requirement === "better" ? "worse" : "worse-by-margin") ? false : null
}

/** The next answers to protected cases, of the prompts that nothing else speaks against. */
const guarding = (state: State): ReadonlyArray<Ask> => {
  const { requirement } = state.setup.settings
  const asks = others(state.setup).flatMap((_, at) => {
    const { cases, isMet, verdict } = standingOf(state, at)
    return (requirement === null ? verdict === "worse" : isMet === false) ? [] : cases.asks
  })
  return [...new Map(asks.map((ask) => [keyOf(ask), ask])).values()].filter(
    (ask) =>
      !Evidence.at(Evidence.ofPrompt(state.guards, ask.prompt), ask.case).some((one) => one.sample === ask.sample)
  )
}

const isFor = (shown: ReadonlySet<Conclude.Claim> = new Set()): boolean =>
  ["better", "no-worse"].includes(Conclude.verdictOf(shown))

/** So many of these cases, and the rest of the last session. */
const wholeSessions = ({ sessions }: Setup, left: ReadonlyArray<number>, least: number): ReadonlyArray<number> => {
  const end = left.findIndex(
    (index, at) => at >= least && Sessions.keyOf(sessions, index) !== Sessions.keyOf(sessions, left[at - 1] ?? index)
  )
  return end < 0 ? left : left.slice(0, end)
}

/** After a round: what the answers show. */
const closed = (state: State): State => {
  if (state.round === null || HashSet.size(state.pending) > 0) return state
  if (state.round.kind === "protected") return { ...state, round: null }
  const { setup } = state
  const { margin, looks, randomSeed } = setup.settings
  const risk = riskOf(setup)
  const [ownLength, ...otherLengths] = Arr.map(setup.settings.arms, Constraint.lengthOf)
  const before = state.looks.at(-1)
  const found = others(setup).map((other, at) => {
    const cases = pairsOf(state, other)
    const pairs = sessionsOf(setup, cases)
    const same = before?.others[at]
    const lengths = [ownLength, Invariant.at(otherLengths, at, "prompt")] as const
    const held = setup.constraints.map((one, nth) => {
      const now = Constraint.judge(one, pairs, lengths, risk, looks === "final")
      return { ...now, isMet: state.held[at]?.[nth]?.isMet ?? now.isMet }
    })
    const evidence = same?.sessions === pairs.length ? same.evidence : Conclude.evidence(pairs, margin)
    const shown =
      looks === "final"
        ? Conclude.final(pairs, margin, risk, randomSeed).claims
        : new Set(Conclude.claims.filter((claim) => evidence[claim] >= -Math.log(risk)))
    return { look: { cases: cases.length, sessions: pairs.length, evidence }, shown, held }
  })
  return {
    ...state,
    round: null,
    looks: [...state.looks, { calls: state.made, others: found.map(({ look }) => look) }],
    shown: found.map(({ shown }, at) => new Set([...(state.shown[at] ?? []), ...shown])),
    held: found.map(({ held }) => held)
  }
}
