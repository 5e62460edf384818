/** The prose of a file: what a person reads in it, at the lines where it is; the rest is blank. */
import { extname } from "node:path"
import { parseSync, type ESTree, Visitor } from "vite"

/** The prose of a document or a source, by the end of its name. */
export const proseOf = (file: string, text: string): string => {
  switch (extname(file)) {
    case ".md":
      return withoutCode(text)
    case ".py":
      return onlyPieces(text, piecesOfPython(text))
    default:
      return onlyPieces(text, piecesOfTypeScript(file, text))
  }
}

/** What is not prose in Markdown: code blocks, comments, code spans, addresses of links, other addresses. */
const code = [
  /^ *(```+|~~~+).*?^ *\1/gmsu,
  /<!--.*?-->/gsu,
  /(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)\1(?!`)/gsu,
  /(?<=\])\([^)\n]*\)/gu,
  /^\[[^\]\n]+\]: .*$/gmu,
  /https?:[^\s)>]+/gu
]

const withoutCode = (markdown: string): string =>
  code.reduce((text, one) => text.replaceAll(one, (found) => ` ${found.replaceAll(/[^\n]/gu, "")} `), markdown)

interface Piece {
  readonly start: number
  readonly end: number
}

/** Its pieces, in which code is none, and line ends. Pieces are apart by spaces, so that a phrase may go over several. */
const onlyPieces = (text: string, pieces: ReadonlyArray<Piece>): string => {
  let prose = ""
  let at = 0
  for (const { end, start } of pieces.toSorted((a, b) => a.start - b.start)) {
    prose += ` ${text.slice(at, start).replaceAll(/[^\n]/gu, "")}${withoutCode(withoutStars(text.slice(start, end)))}`
    at = end
  }
  return prose
}

/** A comment without the star that begins each of its lines. */
const withoutStars = (comment: string): string => comment.replaceAll(/^[ \t]*\*(?!\/)/gmu, "")

/** Comments, strings, the texts of templates and of JSX; what is imported is named by no prose. */
const piecesOfTypeScript = (file: string, text: string): ReadonlyArray<Piece> => {
  const { comments, errors, program } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const pieces: Array<Piece> = [...comments]
  const add = ({ end, start }: ESTree.Node) => void pieces.push({ start, end })
  new Visitor({
    Literal: (node) => (typeof node.value === "string" ? add(node) : undefined),
    TemplateElement: add,
    JSXText: add
  }).visit(program)
  return pieces
}

/** Comments and strings. */
const piecesOfPython = (text: string): ReadonlyArray<Piece> =>
  [...text.matchAll(/("""|''')(?:\\.|(?!\1).)*\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*/gsu)].map(
    ({ 0: found, index }) => ({ start: index, end: index + found.length })
  )
