/** The sidebar: each document is in one group, and a package has its API below its README. */
import type { DefaultTheme } from "vitepress"
import { packages } from "../../test/packages/support/Workspace.ts"
import { documents, placeOf, read, titleOf } from "./Pages.ts"

/** Groups with what belongs to them: files, and folders that end in a slash. */
const groups: Readonly<Record<string, ReadonlyArray<string>>> = {
  Start: ["README.md", "docs/tutorial.md", "docs/how-to/install.md", "examples/README.md"],
  "How-to guides": ["docs/how-to/", "docs/connect-your-gpus.md", "docs/proposer.md", "docs/trackers.md"],
  Explanation: [
    "docs/explanation/",
    "ARCHITECTURE.md",
    "docs/algorithm.md",
    "docs/paper.md",
    "docs/durability.md",
    "docs/scale.md",
    "docs/security.md"
  ],
  Reference: ["docs/reference/", "docs/platforms.md", "docs/compatibility.md", "docs/dashboard/"],
  Research: ["research/"],
  Packages: ["packages/", "clients/", "apps/"],
  Project: ["CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", "docs/release.md", "SECURITY.md", "test/"]
}

export const sidebar = (): DefaultTheme.SidebarItem[] => {
  const left = new Set(documents)
  const items = Object.entries(groups).map(([text, members]) => ({
    text,
    collapsed: text === "Packages",
    items: members
      .flatMap((member) =>
        [...left].filter((file) => file === member || (member.endsWith("/") && file.startsWith(member)))
      )
      .map((file) => {
        left.delete(file)
        return item(file)
      })
  }))
  if (left.size > 0) throw new Error(`${[...left].join(", ")}: in no group of tools/site/Sidebar.ts`)
  return items
}

const item = (file: string): DefaultTheme.SidebarItem => {
  const entry = { text: file === "README.md" ? "Overview" : titleOf(read(file)), link: linkTo(placeOf(file)) }
  const library = packages.find(({ name }) => file === `packages/${name}/README.md`)
  return library === undefined
    ? entry
    : { ...entry, collapsed: true, items: [{ text: "API", link: `/packages/${library.name}/api` }] }
}

const linkTo = (page: string): string => `/${page.replace(/(^|\/)index\.md$/u, "$1").replace(/\.md$/u, "")}`
