/** The page of laws, generated from the titles of the properties that tests check and of the laws that packages export. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseSync } from "vite"
import { root } from "../../test/packages/support/Workspace.ts"
import { mutations } from "../mutation/mutations.ts"
import { page } from "./markdown.ts"

/** A property by its title, which continues those of what it is in. */
interface Law {
  readonly file: string
  readonly of: string
  readonly title: string
}

type Title = Omit<Law, "file">

export const lawsPage = (): string =>
  page(
    "Laws",
    "A law is a property that always holds. Tests search for a counterexample with generated inputs. Each line is the title of a property, " +
      "below the file of its test. `…` is a value that the test inserts.",
    "Laws of an interface hold for every implementation. They are exported from the `/testing` of a package, so that you can " +
      "[test your own](../how-to/test-your-own.md). For each of them a test plants a bug that it finds.",
    "`npx pnpm@12 mutate` plants the [faults](#planted-faults) at the end of this page one by one, and runs the tests that should fail.",
    ...sections(),
    "## Planted faults",
    ...Array.from(
      Map.groupBy(mutations, ({ file }) => file),
      ([file, all]) => [`\`${file}\``, "", ...all.map(({ breaks }) => `- ${escaped(breaks)}`)].join("\n")
    )
  )

const sections = (): ReadonlyArray<string> => {
  const exported = laws("packages/*/src/{testing,internal/laws}/**/*.ts", exportedIn)
  const tested = laws("{packages,apps,research}/*/test/**/*.test.ts", propertiesIn)
  const whole = laws("test/**/*.test.ts", propertiesIn)
  const all = Map.groupBy([...exported, ...tested, ...whole], ({ file }) => sectionOf(file))
  // Packages, whose names have no folder, before the others.
  const order = [...all.keys()].toSorted(
    (a, b) => Number(a.includes("/")) - Number(b.includes("/")) || (a < b ? -1 : 1)
  )
  return order
    .map((name) => ({ name, own: all.get(name) ?? [] }))
    .flatMap(({ name, own }) => [
      `## ${name}`,
      ...Array.from(
        Map.groupBy(own, ({ file }) => file),
        ([file, titles]) =>
          [
            `\`${file}\`${isExported(file) ? ", exported" : ""}`,
            "",
            ...titles.map(({ of, title }) => `- ${of === "" ? "" : `**${escaped(of)}** `}${escaped(title)}`)
          ].join("\n")
      )
    ])
}

const isExported = (file: string): boolean => file.includes("/src/")

/** Packages have sections of their own, and so have folders of tests of the whole. */
const sectionOf = (file: string): string => {
  const [first = "", second = "", third] = file.split("/")
  if (third === undefined) return `${first}/`
  return first === "packages" ? second : `${first}/${second}`
}

const laws = (glob: string, titlesIn: (file: string, text: string) => ReadonlyArray<Title>): ReadonlyArray<Law> =>
  globSync(glob, { cwd: root, exclude: ["**/node_modules/**"] })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted()
    .flatMap((file) => titlesIn(file, readFileSync(join(root, file), "utf8")).map((one) => ({ file, ...one })))

/** A node of a syntax tree. */
interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const childrenOf = (node: Node): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

/** The names in what is called, such as `it`, `effect` and `prop`. */
const namesOf = (callee: unknown): ReadonlyArray<string> => {
  if (!isNode(callee)) return []
  switch (callee.type) {
    case "Identifier":
      return [String(callee["name"])]
    case "MemberExpression":
      return [...namesOf(callee["object"]), ...namesOf(callee["property"])]
    case "CallExpression":
      return namesOf(callee["callee"])
    default:
      return []
  }
}

const argumentsOf = (node: Node): ReadonlyArray<Node> => [node["arguments"]].flat().filter(isNode)

/** A text as it is written, with `…` for what is inserted; null for anything else. */
const titleOf = (node: Node | undefined): string | null => {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"].replaceAll(/%\w|\$\w+/gu, "…")
  if (node?.type !== "TemplateLiteral") return null
  return [node["quasis"]]
    .flat()
    .filter(isNode)
    .map(({ value }) => (typeof value === "object" && value !== null && "cooked" in value ? String(value.cooked) : ""))
    .join("…")
}

/** The titles of the properties of a test, each after those of what it is in. Whatever is below `laws` is one. */
const propertiesIn = (file: string, text: string): ReadonlyArray<Title> => {
  const found: Array<Title> = []
  const visit = (node: Node, outer: ReadonlyArray<string>): void => {
    const [first, ...rest] = node.type === "CallExpression" ? namesOf(node["callee"]) : []
    const title = first === "describe" || first === "it" ? titleOf(argumentsOf(node)[0]) : null
    const titles = title === null ? outer : [...outer, title]
    if (
      title !== null &&
      first === "it" &&
      (file.startsWith("test/laws/") || rest.includes("prop") || searches(node, text))
    )
      found.push({ of: outer.join(" "), title })
    for (const child of childrenOf(node)) visit(child, titles)
  }
  for (const statement of parseSync(file, text).program.body) visit({ ...statement }, [])
  return found
}

const searches = ({ end, start }: Node, text: string): boolean =>
  /\bfc\.(?:assert|check)\b|\bArbitrary\.check/u.test(text.slice(Number(start), Number(end)))

/** The names of the laws that a module makes. */
const exportedIn = (file: string, text: string): ReadonlyArray<Title> => {
  const found: Array<Title> = []
  const visit = (node: Node): void => {
    const name = node.type === "CallExpression" ? (namesOf(node["callee"]).at(-1) ?? "") : ""
    const title = /^(?:forAll|once|always|law|\w+Law)$/u.test(name) ? titleOf(argumentsOf(node)[0]) : null
    if (title !== null) found.push({ of: "", title })
    for (const child of childrenOf(node)) visit(child)
  }
  for (const statement of parseSync(file, text).program.body) visit({ ...statement })
  return found
}

const escaped = (title: string): string =>
  title.replaceAll(/[<*_[\]\\]/gu, (mark) => `\\${mark}`).replaceAll("{{", "{ {")
