/** Texts of models and users in Markdown: nothing in them is markup, HTML, a link or a terminal sequence. */
import * as PlainText from "./PlainText.ts"

/**
 * A text on one line without Markdown, HTML or links, for a paragraph or a table cell.
 *
 * @example
 * ```ts
 * import { MarkdownText } from "@inspo/domain"
 *
 * MarkdownText.inline("# <b>a</b>") // "\\# &lt;b>a&lt;/b>"
 * ```
 */
export const inline = (text: string): string => begin(within(text.replaceAll(/\s+/gu, " ").trim()))

/** The same for a part of a line, whose white space stays. */
export const within = (text: string): string =>
  PlainText.escape(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*_{}[\]#|~!@]/gu, String.raw`\$&`)
    .replaceAll("://", String.raw`:\/\/`)
    .replaceAll(/(www)\./giu, String.raw`$1\.`)

/** Parts of lines, as {@link within} gives them, at the beginning of a line: no list, title, quote or indented code begins there. */
export const begin = (line: string): string =>
  line
    .replace(/^\s+/u, (space) => "&nbsp;".repeat(space.length))
    .replace(/^((?:&nbsp;)*)([-+=>]|\d+(?=[.)]))/u, (_, space: string, start: string) =>
      /^\d/u.test(start) ? `${space}${start}\\` : `${space}\\${start}`
    )

/** A text on one line as a code span, in which Markdown shows everything as it is. */
export const code = (text: string): string => `\`${PlainText.escape(text.replaceAll(/[\s`]+/gu, " ").trim()) || " "}\``

/** Lines in a code block that none of them can end. */
export const fenced = (language: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const longest = Math.max(2, ...lines.flatMap((line) => line.match(/`+/gu) ?? []).map(({ length }) => length))
  const fence = "`".repeat(longest + 1)
  return [`${fence}${language}`, ...lines.map(PlainText.escape), fence]
}
