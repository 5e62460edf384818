import { Strategies } from "@inspo/coevolution"
import { PlainText, Strategy } from "@inspo/domain"
import type { RunConfig } from "@inspo/config"
import { Predicate } from "effect"

/** The settings of a run by dotted name, and the strategies in place of some. A config has no secrets, only names of variables. */
export const settings = (
  config: RunConfig,
  strategies: Strategies.Identities | null
): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...leaves("", config),
    ...Strategies.foreign(config, strategies).map(
      ({ identity, part }) => [`own strategy: ${part}`, PlainText.escape(Strategy.describe(identity))] as const
    )
  ])

/** The settings that are not the same in all runs, with the value of each run; null where a run does not have one. */
export const differing = (
  all: ReadonlyArray<Readonly<Record<string, string>>>
): ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<string | null> }> =>
  [...new Set(all.flatMap((one) => Object.keys(one)))]
    .map((name) => ({ name, values: all.map((one) => one[name] ?? null) }))
    .filter(({ values }) => new Set(values).size > 1)

const leaves = (path: string, value: unknown): ReadonlyArray<readonly [name: string, value: string]> => {
  if (!Predicate.isObject(value) || Array.isArray(value))
    return [[path, PlainText.escape(typeof value === "string" ? value : JSON.stringify(value))]]
  return Object.entries(value).flatMap(([key, child]) => leaves(path === "" ? key : `${path}.${key}`, child))
}
