/** Small components that the views of populations use. */
import type { Member, Population } from "@inspo/serve"
import { axis, interval } from "@inspo/report"
import { IntervalBar } from "./Parts.tsx"

/** The state of a population, with the dot of a run's status. */
export const State = ({ state }: Pick<Population.PopulationSummary, "state">) => (
  <span className={`status inline status-${statusOf[state]}`}>
    <i aria-hidden="true" />
    {state.replace("-", " ")}
  </span>
)

const statusOf = {
  learning: "running",
  "cannot-decide": "unreadable",
  seed: "quiet",
  frozen: "quiet",
  degraded: "unreadable"
} as const

const tones: Readonly<Record<Member.Member["standing"], string>> = {
  waiting: "mode",
  approved: "mode",
  member: "fate-alive",
  pruned: "fate-pruned",
  rejected: "fate-rejected",
  retired: "fate-replaced"
}

export const StandingBadge = ({ standing }: Pick<Member.Member, "standing">) => (
  <span className={`badge ${tones[standing]}`}>{standing === "waiting" ? "waiting for approval" : standing}</span>
)

interface MeanRewardProps {
  readonly estimate: Pick<Member.Estimate, "high" | "low" | "mean">
  readonly range: Population.Population["settings"]["rewardRange"]
  readonly tone?: "accent" | "plain"
}

export const MeanReward = ({ estimate, range: [low, high], tone = "plain" }: MeanRewardProps) => {
  const position = (value: number) => Math.min(1, Math.max(0, (value - low) / (high - low)))
  if (estimate.mean === null) return <span className="muted">no rewards yet</span>
  return (
    <span className="value inline">
      <b className="num">{axis(estimate.mean)}</b>
      {estimate.low !== null && estimate.high !== null && (
        <IntervalBar
          mean={position(estimate.mean)}
          ci95={[position(estimate.low), position(estimate.high)]}
          show={(at) => axis(low + at * (high - low))}
          tone={tone}
        />
      )}
    </span>
  )
}

/** By how much a member is better than the seed, with the interval. */
export const ToSeed = ({ toSeed }: Pick<Member.Member, "toSeed">) =>
  toSeed === null ? (
    <span className="muted">–</span>
  ) : (
    <>
      <span className="num">{axis(toSeed.mean)}</span> <span className="muted small">{intervalOf(toSeed)}</span>
    </>
  )

/** `[0.41, 0.63]`; empty without an interval. */
export const intervalOf = ({ high, low }: Pick<Member.Estimate, "high" | "low">): string =>
  low === null || high === null ? "" : interval([low, high], axis)
