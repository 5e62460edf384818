/** The pages that the site takes from the repository, and where it has them: at their own paths, with a README as the page of its folder. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { join, posix } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

export const read = (file: string): string => readFileSync(join(root, file), "utf8")

const find = (pattern: string): ReadonlyArray<string> =>
  globSync(pattern, { cwd: root, exclude: ["**/node_modules", "**/dist", "**/.cache"] })
    .map((file) => file.replaceAll("\\", "/"))
    .sort()

/** Every document of the repository, by its path from the root. */
export const documents: ReadonlyArray<string> = [
  ...find("*.md"),
  ...find("{apps,clients,docs,examples,packages,research,test}/**/*.md")
]

export const images: ReadonlyArray<string> = find("{docs,research/docs}/**/*.{png,svg}")

/** Sources and folders that documents refer to: each gets a page that shows it. */
export const sources = (): ReadonlyArray<string> => {
  const targets = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\(([^\s)#]+)(?:#[^\s)]*)?\)/gu)].flatMap(([, link = ""]) => {
      const target = targetOf(file, link)
      return target === undefined || /\.(?:md|png|svg)$/u.test(target) ? [] : [target]
    })
  )
  const found = new Set(targets)
  for (const target of found)
    if (isFolder(target)) for (const file of filesIn(target)) if (!file.endsWith(".md")) found.add(file)
  return [...found].filter((target) => !documents.includes(`${target}/README.md`))
}

export const isFolder = (target: string): boolean => statSync(join(root, target)).isDirectory()

export const filesIn = (folder: string): ReadonlyArray<string> => find(`${folder}/*`).filter((file) => !isFolder(file))

/** The file or folder of the repository that a link in a document names; undefined where it names none. */
export const targetOf = (document: string, link: string): string | undefined => {
  if (link === "" || /^[a-z]+:|^\//u.test(link)) return undefined
  const target = posix.join(posix.dirname(document), link).replace(/\/$/u, "")
  return existsSync(join(root, target)) ? target : undefined
}

/** The path on the site of a file or a folder. The root's README is a page of its own, since the site has another first page. */
export const placeOf = (target: string): string => {
  if (/\.(?:png|svg)$/u.test(target)) return target
  if (target.endsWith("/README.md")) return target.replace(/README\.md$/u, "index.md")
  if (target.endsWith(".md")) return target
  // The site leaves out folders whose names begin with a dot.
  const place = target.replaceAll("/.", "/")
  return isFolder(target) ? `${place}/index.md` : `${place}.md`
}

/** The first heading of a page, without its marks. */
export const titleOf = (text: string): string => /^# (.+)$/mu.exec(text)?.[1]?.replaceAll("`", "") ?? ""
