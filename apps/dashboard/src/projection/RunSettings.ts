import type { Identities } from "@inspo/coevolution/Strategies"
import { algorithmOf, type RunConfig } from "@inspo/config"
import { tQuantile } from "@inspo/statistics/Exact"
import type { SettingsView } from "../view/SettingsView.ts"
import { differing, settings } from "./Settings.ts"

/** A run with its settings. */
export interface Configured {
  readonly id: string
  readonly config: RunConfig
  readonly strategies: Identities | null
}

/** The settings in which runs differ, and the groups of runs that differ in their random seed alone. */
export const runSettings = (runs: ReadonlyArray<Configured>): SettingsView => {
  const groups = runs.map(groupOf)
  const numbers = new Map([...new Set(groups)].map((group, place) => [group, place]))
  const sizes = [...Map.groupBy(groups, (group) => group).values()].map(({ length }) => length)
  return {
    runs: runs.map(({ id }) => id),
    settings: differing(runs.map(({ config, strategies }) => settings(config, strategies))),
    groups: groups.map((group) => numbers.get(group) ?? 0),
    quantiles: Array.from({ length: Math.max(1, ...sizes) - 1 }, (_, place) => tQuantile(0.95, place + 1))
  }
}

const groupOf = ({ config, strategies }: Configured): string =>
  JSON.stringify([{ ...algorithmOf(config), randomSeed: 0 }, strategies])
