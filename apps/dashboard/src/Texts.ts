/** The text of an instruction, or several texts by name. */
export type Texts = string | Readonly<Record<string, string>>

/** The texts of an instruction with their names; a single text has the name null. */
export const textsOf = (wording: Texts): ReadonlyArray<readonly [name: string | null, text: string]> =>
  typeof wording === "string" ? [[null, wording]] : Object.entries(wording)

/** The texts of an instruction in one line. */
export const oneText = (wording: Texts): string =>
  textsOf(wording)
    .map(([, text]) => text)
    .join(" · ")
