import { Archive, type PopulationEvent, State } from "@inspo/cohorts"

interface Open {
  readonly index: number
  readonly isTrain: boolean
  readonly isNamed: boolean
  readonly leases: number
}

/** An archive in memory that records the events it is given. */
export const inMemory = (): Archive.Archive & { readonly record: (event: PopulationEvent) => void } => {
  const leases = new Map<string, Archive.ArchivedLease>()
  const byKey = new Map<string, string>()
  const closed = new Map<string, number>()
  const sticky = new Map<string, Array<Pick<Archive.ArchivedLease, "instruction" | "probability">>>()
  const open = new Map<string, Open>()
  let branch = 0
  const name = (on: number, key: string) => JSON.stringify([on, key])
  const reward = (lease: string, sample: number) => {
    const known = leases.get(lease)
    if (known !== undefined) leases.set(lease, { ...known, rewarded: [...known.rewarded, sample] })
  }
  return {
    lease: (lease) => leases.get(lease),
    key: (on, key) => leases.get(byKey.get(name(on, key)) ?? ""),
    cohort: (on, cohort) => closed.get(name(on, cohort)),
    sticky: (on, unit) => sticky.get(name(on, unit)) ?? [],
    record: (event) => {
      switch (event._tag) {
        case "CohortOpened":
          open.set(event.cohort, {
            index: event.index,
            isTrain: event.phase === "train",
            isNamed: event.isNamed,
            leases: 0
          })
          return
        case "Leased": {
          const cohort = open.get(event.cohort)
          if (cohort === undefined) return
          const { index, isTrain } = cohort
          const arms = Archive.armsOf(event.leases)
          for (const [at, given] of event.leases.entries()) {
            leases.set(given.lease, {
              ...given,
              branch,
              cohort: event.cohort,
              index,
              isTrain,
              rewarded: [],
              place: cohort.leases + at,
              arms: arms(given.key)
            })
            if (cohort.isNamed) continue
            byKey.set(name(branch, given.key), given.lease)
            if (!given.isSticky || !isTrain) continue
            const known = sticky.get(name(branch, given.unit)) ?? []
            if (known.every(({ instruction }) => instruction !== given.instruction))
              sticky.set(name(branch, given.unit), [...known, given])
          }
          open.set(event.cohort, { ...cohort, leases: cohort.leases + event.leases.length })
          return
        }
        case "Rewarded":
          for (const { key, sample } of event.rewards) reward(State.leaseId(branch, event.cohort, key), sample)
          return
        case "RewardedLate":
          for (const { lease, sample } of event.rewards) reward(lease, sample)
          return
        case "Closed":
          closed.set(name(branch, event.cohort), event.index)
          open.delete(event.cohort)
          return
        case "ValidationClosed":
          closed.set(name(branch, event.cohort), 0)
          open.delete(event.cohort)
          return
        case "Rewound":
          branch = event.branch
          open.clear()
          return
        default:
          return
      }
    }
  }
}
