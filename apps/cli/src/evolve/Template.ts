/** Prompts with placeholders, such as `{{ ticket }}`. Nothing else of Nunjucks is known. */

const placeholder = /\{\{\s*([\p{L}_][\p{L}\p{N}_-]*)\s*\}\}/gu

/** The placeholders of a template as they are written, each once. */
export const placeholders = (template: string): ReadonlyArray<string> => [
  ...new Set([...template.matchAll(placeholder)].map(([written]) => written))
]

/** The names of a template's variables, each once. */
export const names = (template: string): ReadonlyArray<string> => [
  ...new Set([...template.matchAll(placeholder)].map(([, name = ""]) => name))
]

/** The first syntax that is not a placeholder, such as `{% if %}` or `{{ a | upper }}`; null if there is none. */
export const foreign = (template: string): string | null =>
  /\{[{%#][^\n]{0,40}/u.exec(template.replaceAll(placeholder, ""))?.[0] ?? null

/** The template with its variables; one that has no value stays as it is. */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(placeholder, (written, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : written
  )
