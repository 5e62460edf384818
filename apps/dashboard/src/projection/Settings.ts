import * as PlainText from "@inspo/domain/PlainText"
import { Predicate } from "effect"

/** The settings of a config by dotted name, as text; secrets are never in a config, only names of variables. */
export const settings = (config: object): Readonly<Record<string, string>> => Object.fromEntries(leaves("", config))

const leaves = (path: string, value: unknown): ReadonlyArray<readonly [name: string, value: string]> => {
  if (!Predicate.isObject(value) || Array.isArray(value))
    return [[path, PlainText.escape(typeof value === "string" ? value : JSON.stringify(value))]]
  return Object.entries(value).flatMap(([key, child]) => leaves(path === "" ? key : `${path}.${key}`, child))
}
