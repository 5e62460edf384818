import { Effect } from "effect"
import type * as LivePopulation from "../../src/live/LivePopulation.ts"
import type * as Details from "../../src/store/Details.ts"

/** Work under the seed, one sample each, with what was told of it. */
export const worked = Effect.fnUntraced(function* (
  live: LivePopulation.LivePopulation,
  told: ReadonlyArray<Details.RewardDetails & { readonly value: number }>
) {
  const answer = yield* live.submit((now) => ({
    _tag: "Lease",
    now,
    cohort: "work",
    phase: "train",
    isFullBatch: false,
    requests: told.map((_, at) => ({
      key: `k${at}`,
      n: 1,
      stratum: "all",
      sticky: null,
      question: null,
      instructions: 1
    }))
  }))
  const leases = answer._tag === "Leases" ? answer.leases : []
  yield* live.submit(
    (now) => ({
      _tag: "Reward",
      now,
      rewards: leases.map(({ lease }, at) => ({ lease, sample: null, value: told[at]?.value ?? 0 }))
    }),
    {
      rewards: told.map(({ feedback, transcript }) => ({
        ...(feedback === undefined ? {} : { feedback }),
        ...(transcript === undefined ? {} : { transcript })
      }))
    }
  )
})
