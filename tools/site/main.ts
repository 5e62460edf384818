/** Builds the documentation site in tools/site/dist. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vitepress"
import { packages } from "../../test/packages/support/Workspace.ts"
import { reference } from "../docs/reference.ts"
import { documents, filesIn, images, isFolder, placeOf, read, root, sources, titleOf } from "./Pages.ts"

const site = fileURLToPath(new URL(".", import.meta.url))
const staged = join(site, ".cache/pages")

const write = (page: string, text: string) => {
  const file = join(staged, page)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Languages that the ending of a file does not name. */
const languages: Readonly<Record<string, string>> = { "": "sh", ".service": "ini" }

/** A page that shows a source, or what is in a folder. */
const shown = (target: string): string => {
  const head = `---\nsearch: false\neditLink: false\n---\n\n# \`${target}\`\n\n`
  if (!isFolder(target))
    return `${head}~~~~${languages[extname(target)] ?? extname(target).slice(1)}\n${read(target)}~~~~\n`
  const lines = filesIn(target).map((file) => {
    const title = file.endsWith(".md") ? titleOf(read(file)) : file.slice(target.length + 1)
    return `- [${title}](/${placeOf(file)})`
  })
  return `${head}${lines.join("\n")}\n`
}

rmSync(staged, { recursive: true, force: true })
for (const file of documents) write(placeOf(file), read(file))
for (const one of packages) write(`packages/${one.name}/api.md`, reference(one))
for (const target of sources()) write(placeOf(target), shown(target))
for (const file of images) cpSync(join(root, file), join(staged, "public", file))
cpSync(join(site, "index.md"), join(staged, "index.md"))
await build(site)
