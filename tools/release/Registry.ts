import { Schema } from "effect"
import type { Artifact } from "./Artifacts.ts"
import { run } from "./run.ts"

/** Publishes a tarball, unless the registry has the same one, so that a release that broke off can go on. */
export const publish = async (artifact: Artifact, registry: string): Promise<"published" | "was there already"> => {
  const { filename, integrity, name, version } = artifact
  const found = await integrityOf(artifact, registry)
  if (found === integrity) return "was there already"
  if (found !== undefined) throw new Error(`${registry} has another ${name}@${version}: raise the version`)
  await run("pnpm", ["publish", filename, "--registry", registry, "--no-git-checks"], process.cwd())
  return "published"
}

/** The integrity that a registry has for a version; undefined where it has none. */
const integrityOf = async ({ name, version }: Artifact, registry: string): Promise<string | undefined> => {
  const base = registry.endsWith("/") ? registry : `${registry}/`
  const response = await fetch(new URL(name.replace("/", "%2F"), base))
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`${registry} answers ${response.status} when asked for ${name}`)
  return decode(await response.json()).versions[version]?.dist.integrity
}

const decode = Schema.decodeUnknownSync(
  Schema.Struct({
    versions: Schema.Record(Schema.String, Schema.Struct({ dist: Schema.Struct({ integrity: Schema.String }) }))
  })
)
