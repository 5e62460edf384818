/** How long a population takes to prefer the better of its seed and one variant, where no reward is missing. */
import { Settings, Shares } from "@inspo/cohorts"
import { RandomStream } from "@inspo/domain"
import { changed } from "./Changed.ts"
import { Server } from "./Server.ts"

/** `means` are the expected rewards of the seed and of the variant; a cohort has so many groups of `n` samples with rewards 0 or 1. */
export interface Contest {
  readonly profile: Settings.Profile
  readonly means: readonly [seed: number, variant: number]
  readonly groups: number
  readonly n: number
  readonly cohorts: number
  readonly changes?: Parameters<typeof changed>[1]
}

/**
 * Cohorts until the variant is the incumbent because it is better than the seed, and gets more than half of the leases; null if
 * that takes more than `cohorts`.
 */
export const preferredAfter = (
  { changes = {}, cohorts, groups, means, n, profile }: Contest,
  randomSeed: number
): number | null => {
  const settings = changed(Settings[profile](randomSeed), {
    evolveEvery: 0,
    sealAfterLeases: profile === "online" ? groups : null,
    ...changes
  })
  const server = new Server(settings, ["the seed", "the better one"], undefined, false)
  const { next } = RandomStream.make(randomSeed, ["preference"])
  for (let cohort = 1; cohort <= cohorts; cohort++) {
    const requests = Array.from({ length: groups }, (_, place) => ({
      key: `${cohort}.${place}`,
      n,
      stratum: "all",
      sticky: null,
      question: null,
      instructions: 1
    }))
    const { answer } = server.do({
      _tag: "Lease",
      now: cohort,
      cohort: profile === "online" ? null : `train/${cohort}`,
      phase: "train",
      isFullBatch: profile === "trainer",
      requests
    })
    const leases = answer._tag === "Leases" ? answer.leases : []
    server.reward(
      cohort,
      leases.flatMap(({ instruction, lease }) =>
        Array.from({ length: n }, (_, sample) => ({
          lease,
          sample,
          value: next() < means[instruction === "i0" ? 0 : 1] ? 1 : 0
        }))
      )
    )
    const { learning } = server.state
    const values = server.strategies.valuation.values(learning.population)
    const share = Shares.shares(settings.sampler, learning, values).find(({ id }) => id === "i1")?.probability ?? 0
    if (learning.incumbent.id === "i1" && share > 1 / 2) return cohort
  }
  return null
}
