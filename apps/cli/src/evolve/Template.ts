/** Prompts with placeholders, such as `{{ ticket }}`, filled as promptfoo fills them. Nothing else of Nunjucks is known. */

/** Within one line: promptfoo takes a text with a tag that its line does not close for no template. */
const placeholder = /\{\{[^\S\r\n\u2028\u2029]*([A-Za-z_]\w*)[^\S\r\n\u2028\u2029]*\}\}/gu

/** Names that mean something of their own: to Nunjucks, to promptfoo, or to every object of JavaScript. */
const isReserved = (name: string): boolean =>
  name in {} ||
  /^(?:__.*|_conversation|and|cycler|else|env|false|for|if|in|is|joiner|none|not|null|or|range|super|true)$/u.test(name)

export const placeholders = (template: string): ReadonlyArray<string> => [
  ...new Set([...template.matchAll(placeholder)].map(([written]) => written))
]

export const names = (template: string): ReadonlyArray<string> => [
  ...new Set([...template.matchAll(placeholder)].map(([, name = ""]) => name))
]

/** The first syntax that is not a placeholder, such as `{% if %}` or `{{ a | upper }}`; null if there is none. */
export const foreign = (template: string): string | null =>
  /\{[{%#][^\n]{0,40}/u.exec(
    template.replaceAll(placeholder, (written, name: string) => (isReserved(name) ? written : ""))
  )?.[0] ?? null

/** The template with its variables; one that has no value stays as it is. */
export const fill = (template: string, values: Values): string =>
  template.replaceAll(placeholder, (written, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : written
  )

export type Values = Readonly<Record<string, string>>

/** Values without a line break at their end, with each other filled in as promptfoo does before anything else. */
export const resolve = (given: Values): Values => {
  const values = new Map(Object.entries(given).map(([name, value]) => [name, value.replace(/\n$/u, "")]))
  let isResolved = false
  for (let round = 0; round < rounds && !isResolved; round++) {
    isResolved = true
    for (const [name, value] of values) {
      const [written, inner = ""] = /\{\{\s*(\w+)\s*\}\}/u.exec(value) ?? []
      const found = values.get(inner)
      if (written === undefined || found === undefined) continue
      // As there, `$&` and the like in a value have their meaning.
      values.set(name, value.replace(written, found))
      isResolved = false
    }
  }
  return Object.fromEntries(values)
}

/** How often promptfoo looks for variables within variables. */
const rounds = 5

/** A resolved value as a prompt gets it; null if only Nunjucks knows. */
export const rendered = (value: string, values: Values): string | null => {
  if (/\{[{%]-?[^}]*\benv\b/u.test(value)) return null
  const other = foreign(value)
  const isUnknown = names(value.replaceAll(/\{%.*?%\}/gu, "")).some((name) => !Object.hasOwn(values, name))
  if (other === null) return isUnknown ? value : fill(value, values)
  // A text that uses an unknown variable, or has a tag that its line does not close, is no template there.
  const rest = value.replaceAll(placeholder, (written, name: string) => (isReserved(name) ? written : ""))
  if (isUnknown && !/\{\{|\{#/u.test(rest)) return value
  return /\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$/mu.test(value) && !/\braw\b|\bendraw\b/u.test(value) ? value : null
}
