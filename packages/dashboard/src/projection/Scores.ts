import { Group } from "@inspo/domain"
import { Interval } from "@inspo/statistics"
import type { Share } from "../view/OverviewView.ts"

export const share = (groups: ReadonlyArray<Group.Group>): Share => {
  const total = groups.reduce((sum, group) => sum + Group.meanReward(group), 0)
  return {
    n: groups.length,
    mean: groups.length === 0 ? 0 : total / groups.length,
    ci95: Interval.wilson(total, groups.length)
  }
}

/** The mean reward by data source, sorted by name. */
export const bySource = (groups: ReadonlyArray<Group.Group>): Readonly<Record<string, Share>> =>
  Object.fromEntries(
    [...Map.groupBy(groups, ({ dataSource }) => dataSource)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([source, own]) => [source, share(own)])
  )
