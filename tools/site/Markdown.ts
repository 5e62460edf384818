/** How the site reads the documents of the repository, which are written for a plain Markdown reader. */
import type { MarkdownRenderer } from "vitepress"
import { placeOf, targetOf } from "./Pages.ts"

export const plain = (markdown: MarkdownRenderer): void => {
  linkToPlaces(markdown)
  keepBraces(markdown)
  // A wide table scrolls, and the keyboard must reach it.
  markdown.renderer.rules["table_open"] = () => '<table tabindex="0">\n'
}

/** The anchor of a heading as GitHub makes it, which the links of the documents are written for. */
export const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-")

/** Leads links and images to their places on the site. A relative link that names no file stays, and the build refuses it. */
const linkToPlaces = (markdown: MarkdownRenderer): void => {
  markdown.core.ruler.after("inline", "repository-links", ({ env, tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = token.type === "image" ? "src" : "href"
      const [path = "", anchor] = token.attrGet(name)?.split("#") ?? []
      const target = targetOf(env.relativePath, path)
      if (target !== undefined) token.attrSet(name, [`/${placeOf(target)}`, anchor].filter(Boolean).join("#"))
    }
  })
}

/** Double braces are text, not an expression of Vue. */
const keepBraces = ({ renderer: { rules } }: MarkdownRenderer): void => {
  for (const name of ["text", "code_inline"]) {
    const render = rules[name]
    if (render !== undefined) rules[name] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;")
  }
}
