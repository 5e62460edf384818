import type { Strategies } from "@inspo/coevolution"
import { Exact } from "@inspo/statistics"
import { algorithmOf, Presets, type RunConfig } from "@inspo/config"
import { Array as Arr, Order } from "effect"
import type { SettingsView } from "../view/SettingsView.ts"
import { differing, settings } from "./Settings.ts"

export interface Configured {
  readonly id: string
  readonly config: RunConfig
  readonly strategies: Strategies.Identities | null
}

/** The settings in which runs differ, and the groups of runs that differ in their random seed alone. */
export const runSettings = (runs: ReadonlyArray<Configured>): SettingsView => {
  const described = runs.map(describe)
  const groups = described.map(({ group }) => group)
  const numbers = new Map([...new Set(groups)].map((group, place) => [group, place]))
  const sizes = [...Map.groupBy(groups, (group) => group).values()].map(({ length }) => length)
  return {
    runs: runs.map(({ id }) => id),
    settings: differing(described.map((one) => one.settings)),
    presets: described.map(({ preset }) => preset),
    groups: groups.map((group) => numbers.get(group) ?? 0),
    quantiles: Array.from({ length: Math.max(1, ...sizes) - 1 }, (_, place) => Exact.tQuantile(0.95, place + 1))
  }
}

interface Described {
  readonly strategies: Strategies.Identities | null
  readonly settings: Readonly<Record<string, string>>
  readonly preset: string
  readonly group: string
}

/** Of each config only once: with a thousand runs, all of them would take a quarter of a second for each request. */
const describe = (run: Configured): Described => {
  const found = known.get(run.config)
  if (found !== undefined && found.strategies === run.strategies) return found
  const own = settings(run.config, run.strategies)
  const made = { strategies: run.strategies, settings: own, preset: presetOf(own), group: groupOf(run) }
  known.set(run.config, made)
  return made
}

const known = new WeakMap<RunConfig, Described>()

/** No file names the preset that a run began with. */
const presetOf = (own: Readonly<Record<string, string>>): string => {
  const [nearest] = Arr.sortWith(
    ofPresets.map(([name, theirs]) => ({
      name,
      different: Object.entries(theirs).filter(([key, value]) => own[key] !== value).length
    })),
    ({ different }) => different,
    Order.Number
  )
  return nearest?.name ?? ""
}

const ofPresets = Object.entries(Presets.byName).map(([name, config]) => [name, settings(config, null)] as const)

const groupOf = ({ config, strategies }: Configured): string =>
  JSON.stringify([{ ...algorithmOf(config), randomSeed: 0 }, strategies])
