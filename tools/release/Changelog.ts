/** What a changelog reads of a changeset. */
export interface Change {
  readonly summary: string
  readonly releases: ReadonlyArray<{ readonly type: string }>
}

/** The changelog with an entry for a version, the newest first. */
export const add = (changelog: string, version: string, changes: ReadonlyArray<Change>): string => {
  const sections = Object.entries(headings).flatMap(([type, heading]) => {
    const items = changes.filter((change) => largest(change) === type).map(({ summary }) => item(summary))
    return items.length === 0 ? [] : [`### ${heading}\n\n${items.join("\n")}\n`]
  })
  const entry = `## ${version}\n\n${sections.join("\n")}\n`
  const at = changelog.search(/^## /mu)
  return at < 0 ? `${changelog.trimEnd()}\n\n${entry}` : changelog.slice(0, at) + entry + changelog.slice(at)
}

/** The headings of an entry by the kind of a change, the most important first. */
const headings = { major: "What you must change", minor: "New and changed", patch: "Fixed" }

/** Before 1.0 a breaking change raises the minor version, and its summary begins with a word that says so. */
const largest = ({ releases, summary }: Change): string | undefined =>
  summary.startsWith("Breaking: ")
    ? "major"
    : Object.keys(headings).find((type) => releases.some((release) => release.type === type))

/** A summary as an item of a list. */
const item = (summary: string): string => `- ${summary.replace("Breaking: ", "").trim().replaceAll("\n", "\n  ")}`
