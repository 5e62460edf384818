import { existsSync } from "node:fs"
import { mkdir, readdir, realpath, rm, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { run } from "./Process.ts"
import { type Package, published, readManifest, root } from "./Workspace.ts"

/** The packages as a user of the registry gets them: built, packed, and unpacked into a `node_modules`. */
export interface Published {
  /** A project whose `node_modules` hold them. */
  readonly project: string
  readonly folderOf: (one: Package) => string
  readonly tarballOf: (one: Package) => string
}

/** Publishes all packages and apps into a folder. What they depend on besides each other is linked, so no network is needed. */
export const publish = async (folder: string): Promise<Published> => {
  const tarballs = join(folder, "tarballs")
  const project = join(folder, "project")
  const folderOf = ({ manifest }: Package) => join(project, "node_modules", manifest.name)
  const tarballOf = ({ manifest, name }: Package) => join(tarballs, `inspo-${name}-${manifest.version}.tgz`)

  await build()
  await mkdir(tarballs, { recursive: true })
  const pnpm = ["--yes", "--prefer-offline", "pnpm@12", "--recursive"]
  const filters = published.flatMap(({ manifest }) => ["--filter", manifest.name])
  await succeed("npx", pnpm.concat(filters, "pack", "--pack-destination", tarballs))
  for (const one of published) {
    await mkdir(folderOf(one), { recursive: true })
    await succeed("tar", ["xzf", tarballOf(one), "-C", folderOf(one), "--strip-components", "1"])
    await linkDependencies(one, project)
    await linkPrograms(one, project)
  }
  return { project, folderOf, tarballOf }
}

/** Builds anew, so that no module that was removed is published. */
const build = async () => {
  for (const { folder } of published) {
    await emptyBuild(join(folder, "dist"))
    await rm(join(folder, "tsconfig.build.tsbuildinfo"), { force: true })
  }
  await succeed(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-b",
    ...published.map(({ folder }) => join(folder, "tsconfig.build.json"))
  ])
}

/** The page of the dashboard is built when it is packed, and may be served just now. */
const emptyBuild = async (dist: string) => {
  const entries = existsSync(dist) ? await readdir(dist) : []
  for (const entry of entries.filter((name) => name !== "page")) await rm(join(dist, entry), { recursive: true })
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

const succeed = async (program: string, args: ReadonlyArray<string>) => {
  const { code, output } = await run(program, args, root)
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output}`)
}
