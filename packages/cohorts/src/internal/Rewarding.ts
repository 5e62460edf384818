/** The outcomes of rewards. */
import { Result } from "effect"
import type { Archive } from "../Archive.ts"
import { refuse, type Refused, type RewardCommand, type RewardItem, type RewardOutcome } from "../Command.ts"
import type { EventOf, PopulationEvent } from "../Event.ts"
import { named } from "../Guardrails.ts"
import { type Settings, toUnit } from "../Settings.ts"
import { ancestry, type Cohort, type Lease, openLease, type RewardValue, type State } from "../State.ts"

/** Events and outcomes, item by item; a reward out of range refuses all. The first reward of a sample counts. */
export const reward = (
  state: State,
  archive: Archive,
  { now, rewards }: RewardCommand
): Result.Result<
  { readonly events: ReadonlyArray<PopulationEvent>; readonly outcomes: ReadonlyArray<RewardOutcome> },
  Refused
> => {
  const accepted = new Map<string, Array<EventOf<"Rewarded">["rewards"][number]>>()
  const late: Array<EventOf<"RewardedLate">["rewards"][number]> = []
  const first = new Set<string>()
  const outcomes: Array<RewardOutcome> = []
  for (const item of rewards) {
    const found = find(state, archive, item.lease)
    const sample = sampleOf(item, found?.n)
    const value = valueOf(state.settings, item)
    if (Result.isFailure(sample)) return Result.fail(sample.failure)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    const name = `${sample.success} ${item.lease}`
    const isFirst = !first.has(name)
    first.add(name)
    const metrics =
      item.metrics === undefined || value.success === "abandoned"
        ? undefined
        : named(state.settings.guardrails, item.metrics)
    const reported = {
      sample: sample.success,
      value: value.success,
      ...(metrics === undefined ? {} : { metrics })
    }
    if (found === undefined) outcomes.push("unknown")
    else if (found.isSuperseded) outcomes.push("superseded")
    else if (!isFirst || found.isKnown(sample.success)) outcomes.push("duplicate")
    else if (found.cohort === null || found.cohort.status === "complete") {
      outcomes.push("late")
      const { instruction, stratum } = found
      late.push({ lease: item.lease, instruction, stratum, ...reported })
    } else {
      outcomes.push("accepted")
      const own = accepted.get(found.cohort.name) ?? []
      own.push({ key: found.key, ...reported })
      accepted.set(found.cohort.name, own)
    }
  }
  return Result.succeed({
    events: [
      ...Array.from(accepted, ([cohort, rewards]): PopulationEvent => ({ _tag: "Rewarded", cohort, rewards, at: now })),
      ...(late.length === 0 ? [] : [{ _tag: "RewardedLate", rewards: late } satisfies PopulationEvent])
    ],
    outcomes
  })
}

interface Found extends Pick<Lease, "instruction" | "key" | "n" | "stratum"> {
  /** The cohort that is not closed. */
  readonly cohort: Cohort | null
  readonly isSuperseded: boolean
  readonly isKnown: (sample: number) => boolean
}

const find = (state: State, archive: Archive, id: string): Found | undefined => {
  const open = openLease(state, id)
  if (open !== undefined) {
    const { cohort, lease } = open
    return {
      ...lease,
      cohort,
      isSuperseded: false,
      // A reward after its cohort was complete is not evidence, and not in the state.
      isKnown: (sample) =>
        (lease.samples[sample] ?? null) !== null ||
        (cohort.status === "complete" && archive.lease(id)?.rewarded.includes(sample) === true)
    }
  }
  const archived = archive.lease(id)
  if (archived === undefined) return undefined
  const counts = ancestry(state).some(
    ({ branch, upTo }) =>
      branch === archived.branch &&
      (archived.isTrain ? archived.index <= Math.min(upTo, state.learning.population.step) : branch === state.branch)
  )
  return {
    ...archived,
    cohort: null,
    isSuperseded: !counts,
    isKnown: (sample) => archived.rewarded.includes(sample)
  }
}

const sampleOf = ({ lease, sample }: RewardItem, n: number | undefined): Result.Result<number, Refused> => {
  if (sample === null && (n === undefined || n === 1)) return Result.succeed(0)
  if (sample !== null && Number.isSafeInteger(sample) && sample >= 0 && (n === undefined || sample < n))
    return Result.succeed(sample)
  const expected = n === undefined ? "a whole number of at least 0" : `one of 0 to ${n - 1}`
  return refuse("invalid", "sample", sample ?? "absent", expected, "Name a sample that the lease covers", lease)
}

const valueOf = (settings: Settings, { lease, value }: RewardItem): Result.Result<RewardValue, Refused> => {
  const [lowest, highest] = settings.rewardRange
  if (typeof value !== "number") return Result.succeed(value)
  return value >= lowest && value <= highest
    ? Result.succeed(Math.min(1, Math.max(0, toUnit(settings, value))))
    : refuse(
        "invalid",
        "value",
        value,
        `a number from ${lowest} to ${highest}`,
        "Scale the rewards, or create a population with another rewardRange",
        lease
      )
}
