/** The code blocks of a language in a Markdown text. */
export const codeBlocks = (markdown: string, language: string): ReadonlyArray<string> =>
  [...markdown.matchAll(/^```(\w+)[^\n]*\n(.*?)^```/gmsu)].flatMap(([, found, code = ""]) =>
    found === language ? [code] : []
  )

/** The programs of a README. */
export const examplesOf = (readme: string): ReadonlyArray<string> => codeBlocks(readme, "ts")

/** The lines of code of an example: blank lines and what it prints do not count. */
export const linesOfCode = (code: string): number =>
  code.split("\n").filter((line) => line.trim() !== "" && !/^\s*\/\//u.test(line)).length

/** What an example says it prints: its comments, in order. */
export const promised = (code: string): string =>
  squash(
    code
      .split("\n")
      .flatMap((line) => /(?:^|\s)\/\/ (.*)$/u.exec(line)?.[1] ?? [])
      .join(" ")
  )

/** White space as one space, since Node breaks long values into lines. */
export const squash = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()
