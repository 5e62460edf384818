/** Finds the characters of a text that a person cannot see, and makes them visible. */
import { Result } from "effect"

/**
 * The characters of a text that move a terminal's cursor, reverse the writing direction, or are invisible, each once, in
 * order of appearance: control and format characters, other invisible ones, and halves of surrogate pairs. Tabs and line
 * ends are not among them, nor are joiners in emoji or after a letter of a script that uses them.
 */
export const hiddenIn = (text: string): ReadonlyArray<string> => [
  ...new Set(text.match(pieces)?.filter((piece) => isHidden(piece)))
]

/**
 * A text that is safe to show: each hidden character is replaced by its number, such as `\u{1b}` for the one that
 * starts terminal sequences. Other texts are unchanged.
 *
 * @example
 * ```ts
 * import { PlainText } from "@inspo/domain"
 *
 * PlainText.escape("a\u001b[31m") // "a\\u{1b}[31m"
 * ```
 */
export const escape = (text: string): string =>
  text.replace(pieces, (piece) => (isHidden(piece) ? `\\u{${(piece.codePointAt(0) ?? 0).toString(16)}}` : piece))

/** A foreign value as JSON in a limited number of characters, for an error message, however deeply it is nested. */
export const json = (value: unknown, longest: number): string => {
  const text = Result.getOrElse(
    Result.try(() => JSON.stringify(value) ?? "nothing"),
    () => "a value nested too deeply to be shown"
  )
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

/** A value as a line of JSON. Other characters at which some readers end a line are escaped, such as U+2028. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(lineEnds, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`

const lineEnds = /[\u0085\u2028\u2029]/gu

/** Characters that may be hidden, with the context in which they are allowed: an emoji, a joined letter, a line end. */
const pieces = new RegExp(
  [
    String.raw`\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?\u200D(?=\p{Extended_Pictographic})`,
    String.raw`\p{RGI_Emoji}`,
    String.raw`\p{Emoji}[\uFE0E\uFE0F]`,
    String.raw`[[\p{L}\p{M}]&&[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}]][\u200C\u200D]`,
    String.raw`\r\n`,
    String.raw`[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\t\n]]`
  ].join("|"),
  "gv"
)

/** The last kind of {@link pieces} is a single character; the others are longer or visible. */
const isHidden = (piece: string): boolean =>
  /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/v.test(piece)
