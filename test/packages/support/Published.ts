import { mkdir, realpath, rm, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { run } from "./Process.ts"
import type { Registry } from "./Registry.ts"
import { type Package, published, readManifest, root } from "./Workspace.ts"

/** The packages as a user of the registry gets them: built, packed, and unpacked into a `node_modules`. */
export interface Published {
  /** What the release consists of: tarballs, checksums, a bill of materials. */
  readonly release: string
  /** A project whose `node_modules` hold them. */
  readonly project: string
  readonly folderOf: (one: Package) => string
  readonly tarballOf: (one: Package) => string
}

/** Makes a release of all packages and apps into a registry, and unpacks it. What they depend on besides each other is linked. */
export const publish = async (folder: string, { config, url }: Registry): Promise<Published> => {
  const release = join(folder, "release")
  const project = join(folder, "project")
  const folderOf = ({ manifest }: Package) => join(project, "node_modules", manifest.name)
  const tarballOf = ({ manifest, name }: Package) => join(release, `inspo-${name}-${manifest.version}.tgz`)

  const pnpm = ["--yes", "--prefer-offline", "pnpm@12", "release", "--dry-run", "--registry", url, "--out", release]
  await succeed("npx", pnpm, { ...process.env, NPM_CONFIG_USERCONFIG: config })
  for (const one of published) {
    await mkdir(folderOf(one), { recursive: true })
    await succeed("tar", ["xzf", tarballOf(one), "-C", folderOf(one), "--strip-components", "1"])
    await linkDependencies(one, project)
    await linkPrograms(one, project)
  }
  return { release, project, folderOf, tarballOf }
}

const linkDependencies = async ({ folder, manifest }: Package, project: string) => {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  for (const name of names.filter((name) => !name.startsWith("@inspo/"))) {
    const link = join(project, "node_modules", name)
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    // A junction, where links need a privilege; only Windows has them.
    await symlink(await realpath(join(folder, "node_modules", name)), link, "junction")
  }
}

/** As npm makes the programs of a package callable. */
const linkPrograms = async ({ manifest }: Package, project: string) => {
  const installed = join(project, "node_modules", manifest.name)
  const bins = join(project, "node_modules", ".bin")
  await mkdir(bins, { recursive: true })
  for (const [name, path] of Object.entries(readManifest(installed).bin ?? {}))
    await symlink(join(installed, path), join(bins, name))
}

const succeed = async (program: string, args: ReadonlyArray<string>, env?: NodeJS.ProcessEnv) => {
  const { code, output } = await run(program, args, root, env)
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output}`)
}
