import { Document, isMap, isScalar, type YAMLMap } from "yaml"
import { Text } from "@inspo/report"
import { configKeys } from "./ConfigKeys.ts"

/** A config, or a part of one, as YAML in which each key has its meaning and type as a comment. `schema` is the JSON Schema for editors. */
export const configTemplate = (config: object, introduction: string, schema: string): string => {
  const document = new Document(config)
  document.commentBefore = [` yaml-language-server: $schema=${schema}`, ...comment(introduction, 0)].join("\n")
  if (isMap(document.contents)) explain(document.contents, [])
  return document.toString({ lineWidth: columns, commentString: (text) => text.replaceAll(/^/gmu, "#") })
}

/** Adds the comments before the keys of a mapping, recursively. */
const explain = (mapping: YAMLMap, path: ReadonlyArray<string>): void => {
  for (const [index, { key, value }] of mapping.items.entries()) {
    if (!isScalar(key)) continue
    const own = [...path, String(key.value)]
    const known = configKeys.find((one) => one.path === own.join("."))
    if (known !== undefined) {
      const text = known.isSection ? known.meaning : `${known.meaning} (${known.takes})`
      key.commentBefore = comment(text, path.length).join("\n")
      key.spaceBefore = path.length === 0 && index > 0
    }
    if (isMap(value)) explain(value, own)
  }
}

const columns = 100

const comment = (text: string, depth: number): ReadonlyArray<string> =>
  Text.wrap(text, columns - 2 - 2 * depth).map((line) => ` ${line}`)
