export interface Request {
  readonly registry: string | undefined
  readonly dryRun: boolean
  /** The number of changesets that no version has yet. */
  readonly pending: number
  /** Whether files differ from the commit. */
  readonly edited: boolean
}

/** Why a release cannot be made as asked for; undefined where it can. */
export const refusal = ({ registry, dryRun, edited, pending }: Request): string | undefined => {
  if (registry === undefined) return undefined
  if (!URL.canParse(registry)) return `--registry takes a URL; got ${JSON.stringify(registry)}`
  if (dryRun)
    return isLocal(new URL(registry))
      ? undefined
      : `--dry-run publishes only into a registry on this machine; got ${registry}`
  if (pending > 0)
    return `${pending} changesets have no version yet: run \`pnpm release\` without --registry first, and commit the result`
  return edited
    ? "--registry publishes what is committed, and files differ from the commit: commit them first"
    : undefined
}

const isLocal = ({ hostname }: URL): boolean => ["127.0.0.1", "[::1]", "localhost"].includes(hostname)
