import type { RunConfig } from "@inspo/config"
import { withoutCredentials } from "@inspo/tracking/Credentials"
import { Predicate } from "effect"

/** The settings of a run by dotted name, as text: what trackers show beside its metrics. Addresses lose their credentials. */
export const settingsOf = (config: RunConfig): Readonly<Record<string, string>> =>
  Object.fromEntries(leaves(config, ""))

const leaves = (node: unknown, path: string): ReadonlyArray<readonly [name: string, value: string]> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
    ? Object.entries(node).flatMap(([key, value]) => leaves(value, path === "" ? key : `${path}.${key}`))
    : [[path, withoutCredentials(typeof node === "string" ? node : JSON.stringify(node))]]
