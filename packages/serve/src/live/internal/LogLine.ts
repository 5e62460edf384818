/** The log lines of events. They contain no key, no question and no text of a user. */
import type { PopulationEvent } from "@inspo/cohorts"
import { Effect, LogLevel, Match } from "effect"

interface LogLine {
  readonly level: "Info" | "Debug"
  readonly message: string
  readonly about: Readonly<Record<string, string | number>>
}

/** Logs events: decisions and cohorts that close at `Info`, leases, rewards and intermediate steps at `Debug`. */
export const log = Effect.fnUntraced(function* (events: ReadonlyArray<PopulationEvent>) {
  const isDetailed = yield* LogLevel.isEnabled("Debug")
  for (const event of events) {
    // Most events, by far.
    if (!isDetailed && (event._tag === "Leased" || event._tag === "Rewarded")) continue
    const { about, level, message } = line(event)
    if (yield* LogLevel.isEnabled(level)) yield* Effect.annotateLogs(Effect.logWithLevel(level)(message), about)
  }
})

const info = (message: string, about: LogLine["about"] = {}): LogLine => ({ level: "Info", message, about })
const debug = (message: string, about: LogLine["about"] = {}): LogLine => ({ level: "Debug", message, about })

/** The line of an event. */
export const line = Match.type<PopulationEvent>().pipe(
  Match.tagsExhaustive({
    Created: ({ members }) => info("population created", { members: list(members) }),
    Configured: () => info("settings changed"),
    Frozen: ({ isFrozen, usesSeed }) =>
      info(usesSeed === true ? "switched to the seed" : isFrozen ? "frozen" : "resumed"),
    MemberAdded: ({ member }) => info("instruction added", { instruction: member.id }),
    MemberPinned: ({ id, isPinned }) => info(isPinned ? "pinned" : "unpinned", { instruction: id }),
    MemberRetired: ({ id }) => info("retired", { instruction: id }),
    CandidateReviewed: ({ isApproved, place }) =>
      info(isApproved ? "candidate approved" : "candidate rejected", { place }),
    Paused: ({ broken: { guardrail, lower, value }, id }) =>
      info("paused", { instruction: id, guardrail, value, lower }),
    CohortOpened: ({ cohort, shares }) =>
      debug("cohort opened", {
        cohort,
        shares: shares.map(({ id, probability }) => `${id} ${probability.toFixed(3)}`).join(", ")
      }),
    Leased: ({ cohort, leases }) =>
      debug("leased", {
        cohort,
        leases: leases.length,
        instructions: list(leases.map(({ instruction }) => ({ id: instruction })))
      }),
    Rewarded: ({ cohort, rewards }) => debug("rewards reported", { cohort, rewards: rewards.length }),
    RewardedLate: ({ rewards }) => debug("late rewards reported", { rewards: rewards.length }),
    CloseRequested: ({ cohort, groups }) => debug("close requested", { cohort, groups }),
    Sealed: ({ cohort, reason }) => info("cohort sealed", { cohort, reason }),
    Settled: ({ cohort, reason }) => info("cohort takes no more rewards", { cohort, reason }),
    Closed: ({ cohort, units }) =>
      info("cohort closed", {
        cohort,
        units: units.length,
        rewards: units.reduce((sum, { rewards }) => sum + rewards.length, 0),
        missing: units.reduce((sum, { missing }) => sum + missing, 0)
      }),
    ValidationClosed: ({ cohort, mean, units }) => info("validation closed", { cohort, units, mean: mean ?? "none" }),
    Pruned: ({ kept, pruned, step }) => info("pruned", { step, pruned: leaving(pruned), kept: kept.join(", ") }),
    ParentsChosen: ({ parents, step }) => info("evolution started", { step, parents: parents.join(", ") }),
    CandidatesProposed: ({ candidates, parent, round, step }) =>
      info("candidates proposed", { step, round, parent, candidates: candidates.length }),
    VerificationBegun: ({ places, round, step }) =>
      debug("candidates reviewed", { step, round, candidates: places.length }),
    EvolutionSkipped: ({ reason, step }) => info("evolution skipped", { step, reason }),
    CandidatesVerified: ({ questions, step }) => debug("candidates scored", { step, questions: questions.length }),
    CandidatesJudged: ({ round, step, verdicts }) =>
      debug("candidates judged", {
        step,
        round,
        verdicts: verdicts.map(({ accepted, reason }) => `${accepted ? "accepted" : "rejected"}: ${reason}`).join(", ")
      }),
    PopulationRefilled: ({ accepted, replaced, step }) =>
      info("evolved", {
        step,
        accepted: list(accepted.map(({ instruction }) => instruction)),
        replaced: leaving(replaced)
      }),
    Concluded: ({ incumbent }) => debug("decisions complete", { incumbent: incumbent.id, why: incumbent.why }),
    Rewound: ({ branch, to }) => info("rewound", { to, branch })
  })
)

const list = (some: ReadonlyArray<{ readonly id: string }>): string =>
  [...new Set(some.map(({ id }) => id))].join(", ") || "none"

const leaving = (some: ReadonlyArray<{ readonly id: string; readonly reason: string }>): string =>
  some.map(({ id, reason }) => `${id}: ${reason}`).join(", ") || "none"
