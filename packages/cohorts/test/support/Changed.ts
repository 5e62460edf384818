import type { Settings } from "@inspo/cohorts"

type Own = Omit<Settings.Settings, "population" | "sampler" | "schedule" | "selection">

/** What a test changes, without the sections. */
type Changes = Partial<
  Own &
    Settings.Settings["population"] &
    Settings.Settings["sampler"] &
    Settings.Settings["schedule"] &
    Settings.Settings["selection"]
>

/** Settings with some changes. */
export const changed = (before: Settings.Settings, changes: Changes): Settings.Settings => {
  const { population, sampler, schedule, selection, ...own } = before
  const of = <A extends object>(section: A): A => ({
    ...section,
    ...Object.fromEntries(Object.entries(changes).filter(([name]) => Object.hasOwn(section, name)))
  })
  return {
    ...of(own),
    population: of(population),
    sampler: of(sampler),
    schedule: of(schedule),
    selection: of(selection)
  }
}
