/** What a comparison showed: verdicts, intervals, the cases that changed, and what noise alone would have said. */
import { type Instruction, RandomStream } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import { Bootstrap, Bounded } from "@inspo/statistics"
import * as Comparison from "./Comparison.ts"
import type { Constraint as Rule } from "@inspo/evolution"
import * as Evidence from "./Evidence.ts"
import type { Prompt } from "./Setup.ts"
import type { Gain } from "./SearchView.ts"

export type Verdict = Conclude.Shown["verdict"]

/** A case whose score is another one under the candidate; the mean, where a case was answered several times. */
export interface Changed {
  readonly case: unknown
  readonly control: number
  readonly candidate: number
}

/** A prompt that was compared with the control. */
export interface Compared {
  readonly prompt: Prompt
  /**
   * `better`, `no-worse` by more than the margin, or `worse`: each wrong at a risk of 5 %, for all candidates together. A candidate that
   * fails a protected case or breaks a constraint is worse.
   */
  readonly verdict: Verdict
  /** Whether it meets the requirement; null if there is none, or if that is not known. */
  readonly isMet: boolean | null
  /** The difference in score with its 90 % interval, which holds at all looks together. */
  readonly gain: Gain
  readonly score: number | null
  /** Cases that both prompts answered. */
  readonly cases: number
  /** Independent observations: a case without a session is one, and so are all cases of a session. */
  readonly sessions: number
  /** About how many different cases, of how many sessions, and calls of these two prompts, would decide; null if it is decided, or if no number would. */
  readonly needed: { readonly cases: number; readonly sessions: number; readonly calls: number } | null
  /** Protected cases that it fails more often than the control, and how many may be such; empty without protected cases. */
  readonly lost: ReadonlyArray<Changed>
  readonly open: number
  readonly constraints: ReadonlyArray<Rule.Found>
  readonly improved: ReadonlyArray<Changed>
  readonly worsened: ReadonlyArray<Changed>
  /** Calls whose answer or score is missing. */
  readonly missing: number
  /** The evidence for each claim after so many calls: a logarithm to the base 10. A claim is shown from `bound` on. */
  readonly course: ReadonlyArray<{
    readonly calls: number
    readonly cases: number
    readonly evidence: Conclude.Evidence
  }>
  /** What noise alone does; null unless the candidate is the control. */
  readonly noise: Noise | null
}

/** What repeated answers to one prompt show of agent and judge. */
export interface Noise {
  /** How much two answers to one case differ in score, on average. */
  readonly difference: number
  /** The share of comparisons with as many cases that would call the control better or worse than itself. */
  readonly falseAlarms: number
  /** The same where any difference of the means counts. */
  readonly falseAlarmsOfMeans: number
  /** About how many cases show that equal prompts are no worse by more than the margin. */
  readonly casesForMargin: number | null
}

/** All that is known at the end. */
export interface Facts extends Pick<Comparison.State, "usd" | "cached" | "lost"> {
  readonly control: { readonly prompt: Prompt; readonly score: number | null }
  readonly candidates: ReadonlyArray<Compared>
  readonly requirement: Comparison.Requirement | null
  /** Whether one candidate is better, or all are no worse, as is required; null if there is no requirement, or if that is not known. */
  readonly isMet: boolean | null
  readonly margin: number
  readonly samples: number
  readonly looks: Comparison.Looks
  /** The evidence from which on a claim is shown, to the base 10. */
  readonly bound: number
  /** Calls of the agent that were made; `cached` answers are none. */
  readonly calls: number
  /** Whether the budget ended it. */
  readonly isCut: boolean
  /** Cases that were asked, all different ones, and those that repeat another one. */
  readonly cases: { readonly asked: number; readonly given: number; readonly repeated: number }
}

/** What a comparison that is done showed. */
export const make = (state: Comparison.State, cases: ReadonlyArray<unknown>, repeated: number): Facts => {
  const { asked, cached, isCut, lost, made, setup, usd } = state
  const { arms, looks, margin, requirement, samples } = setup.settings
  const candidates = Comparison.others(setup).map((id, at) => comparedOf(state, cases, id, at))
  return {
    control: { prompt: arms[0], score: Evidence.meanOf(state.answers, Comparison.control) },
    candidates,
    requirement,
    isMet: requirement === null ? null : together(requirement, candidates),
    margin,
    samples,
    looks,
    bound: -Math.log10(Comparison.riskOf(setup)),
    calls: made,
    usd,
    cached,
    lost,
    isCut,
    // Of the cases of a round that was cut, some have no answer.
    cases: {
      asked: isCut ? Math.max(...candidates.map((one) => one.cases)) : asked,
      given: cases.length,
      repeated
    }
  }
}

const together = (requirement: Comparison.Requirement, candidates: ReadonlyArray<Compared>): boolean | null => {
  // One that is better is enough, and one that is worse is too much.
  const decisive = requirement === "better"
  const all = new Set(candidates.map(({ isMet }) => isMet))
  if (all.has(decisive)) return decisive
  return all.has(null) ? null : !decisive
}

const comparedOf = (
  state: Comparison.State,
  cases: ReadonlyArray<unknown>,
  id: Instruction.InstructionId,
  at: number
): Compared => {
  const { answers, looks, setup } = state
  const { arms, margin, requirement, samples } = setup.settings
  const shown = state.shown[at] ?? new Set<Conclude.Claim>()
  const pairs = Comparison.pairsOf(state, id)
  const changed = pairs.flatMap((pair) => {
    const [control, candidate] = [meanOf(pair.before), meanOf(pair.after)]
    return control === candidate ? [] : [{ case: cases[pair.index], control, candidate }]
  })
  const sessions = Comparison.sessionsOf(setup, pairs)
  const prompt = arms[at + 1] ?? arms[0]
  const { cases: guarded, isMet, verdict } = Comparison.standingOf(state, at)
  // What keeps a verdict open besides the score is not known by its noise.
  const isOpen =
    requirement === null ? Conclude.verdictOf(shown) === "undecided" : isMet === null && !shown.has(requirement)
  const guardOf = (prompt: Instruction.InstructionId, index: number) =>
    meanOf(Evidence.at(Evidence.ofPrompt(state.guards, prompt), index))
  return {
    prompt,
    verdict,
    isMet,
    gain: gainOf(state, sessions, at, shown),
    score: Evidence.meanOf(answers, id),
    cases: pairs.length,
    sessions: sessions.length,
    needed: isOpen && verdict !== "worse" ? neededOf(state, sessions, pairs.length) : null,
    lost: guarded.lost.map((index) => ({
      case: cases[index],
      control: guardOf(Comparison.control, index),
      candidate: guardOf(id, index)
    })),
    open: guarded.open.length,
    constraints: state.held[at] ?? [],
    improved: changed.filter(({ candidate, control }) => candidate > control),
    worsened: changed.filter(({ candidate, control }) => candidate < control),
    missing: pairs.flatMap(({ after, before }) => [...after, ...before]).filter(({ _tag }) => _tag === "Missed").length,
    course: looks.map(({ calls, others }) => {
      const { cases: count = 0, evidence } = others[at] ?? {}
      return { calls, cases: count, evidence: inTens(evidence ?? Conclude.evidence([], margin)) }
    }),
    noise:
      JSON.stringify(prompt) === JSON.stringify(arms[0]) && sessions.length > 0
        ? noiseOf(setup, sessions, samples)
        : null
  }
}

const meanOf = (outcomes: ReadonlyArray<Evidence.Outcome>): number =>
  Bootstrap.meanOf(outcomes.map((outcome) => Evidence.scoreOf(outcome, 0))) ?? 0

const inTens = (evidence: Conclude.Evidence): Conclude.Evidence => ({
  better: evidence.better / Math.LN10,
  "no-worse": evidence["no-worse"] / Math.LN10,
  worse: evidence.worse / Math.LN10,
  "worse-by-margin": evidence["worse-by-margin"] / Math.LN10,
  "no-gain": evidence["no-gain"] / Math.LN10
})

/** The interval never contradicts what was shown at an earlier look. */
const gainOf = (
  { looks: all, setup }: Comparison.State,
  pairs: ReadonlyArray<Evidence.Cluster>,
  at: number,
  shown: ReadonlySet<Conclude.Claim>
): Gain => {
  const { looks, margin, randomSeed } = setup.settings
  const risk = Comparison.riskOf(setup)
  if (looks === "final") return Conclude.heldOut(pairs, { risk, seed: randomSeed }).gain
  // So many looks that their number does not matter.
  const every = Math.ceil(all.length / 64)
  const counts = all.flatMap(({ others }, look) => (look % every === 0 ? (others[at]?.sessions ?? []) : []))
  const { lower, mean, upper } = Conclude.narrowed(pairs, counts, 2 * risk, Bounded.pairedBets)
  const least = shown.has("better") ? 0 : shown.has("no-worse") ? -margin : -1
  const most = shown.has("worse-by-margin") ? -margin : shown.has("worse") ? 0 : shown.has("no-gain") ? margin : 1
  return { mean, lower: Math.max(lower, least), upper: Math.min(upper, most) }
}

/** What the fewest further cases or sessions would show that is asked. */
const neededOf = (
  { setup }: Comparison.State,
  pairs: ReadonlyArray<Evidence.Cluster>,
  cases: number
): Compared["needed"] => {
  const { margin, requirement, samples } = setup.settings
  const asked: ReadonlyArray<Conclude.Claim> =
    requirement === "better" ? ["better", "worse"] : ["better", "no-worse", "worse", "worse-by-margin"]
  const found = asked.flatMap((claim) => Conclude.needed(pairs, claim, margin, Comparison.riskOf(setup)) ?? [])
  if (pairs.length === 0 || found.length === 0) return null
  const sessions = Math.min(...found)
  const needed = Math.ceil((sessions * cases) / pairs.length)
  return { cases: needed, sessions, calls: 2 * samples * needed }
}

/** Comparisons of the control with itself, of the differences that its own answers have, with random signs. */
const noiseOf = (setup: Comparison.Setup, pairs: ReadonlyArray<Evidence.Cluster>, samples: number): Noise => {
  const { margin, randomSeed } = setup.settings
  const sizes = pairs.map((pair) => Math.abs(meanOf(pair.after) - meanOf(pair.before)))
  const stream = RandomStream.make(randomSeed, ["noise"])
  let [alarms, alarmsOfMeans] = [0, 0]
  const look = Math.max(1, Math.floor(4 / samples))
  for (let repeat = 0; repeat < repeats; repeat++) {
    const values: Array<number> = []
    let isAlarm = false
    for (let drawn = 0; drawn < sizes.length; drawn++) {
      values.push((sizes[Math.floor(stream.next() * sizes.length)] ?? 0) * (stream.next() < 0.5 ? -1 : 1))
      if (isAlarm || (values.length % look > 0 && values.length < sizes.length)) continue
      const { better, worse } = Conclude.evidence(values.map(pairOf), margin)
      isAlarm = Math.max(better, worse) >= -Math.log(Comparison.riskOf(setup))
    }
    if (isAlarm) alarms += 1
    // A difference in either direction is taken for one.
    if (Math.abs(Bootstrap.meanOf(values) ?? 0) > 1e-9) alarmsOfMeans += 1
  }
  const both = sizes.flatMap((size) => [pairOf(size), pairOf(-size)])
  const cases = Conclude.needed(both, "no-worse", margin, Comparison.riskOf(setup))
  return {
    difference: Bootstrap.meanOf(sizes) ?? 0,
    falseAlarms: alarms / repeats,
    falseAlarmsOfMeans: alarmsOfMeans / repeats,
    casesForMargin: cases
  }
}

const pairOf = (value: number): Conclude.Pair => ({ least: value, most: value })

const repeats = 400
