import { mkdir, readFile, realpath, rm, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { run } from "./Process.ts"
import { type Package, packages, root } from "./Workspace.ts"

/** The packages as a user of the registry gets them: built, packed, and unpacked into a `node_modules`. */
export interface Published {
  /** A project whose `node_modules` hold them. */
  readonly project: string
  readonly folderOf: (one: Package) => string
  readonly tarballOf: (one: Package) => Promise<Buffer>
}

/** Publishes all packages into a folder. What they depend on besides each other is linked, so no network is needed. */
export const publish = async (folder: string): Promise<Published> => {
  const tarballs = join(folder, "tarballs")
  const project = join(folder, "project")
  const folderOf = ({ manifest }: Package) => join(project, "node_modules", manifest.name)
  const tarball = ({ manifest, name }: Package) => join(tarballs, `inspo-${name}-${manifest.version}.tgz`)

  await build()
  await mkdir(tarballs, { recursive: true })
  const pnpm = ["--yes", "--prefer-offline", "pnpm@12", "--recursive", "--filter", "./packages/*"]
  await succeed("npx", pnpm.concat("pack", "--pack-destination", tarballs))
  for (const one of packages) {
    await mkdir(folderOf(one), { recursive: true })
    await succeed("tar", ["xzf", tarball(one), "-C", folderOf(one), "--strip-components", "1"])
    await linkDependencies(one, project)
  }
  return { project, folderOf, tarballOf: (one) => readFile(tarball(one)) }
}

/** Builds anew, so that no module that was removed is published. */
const build = async () => {
  for (const { folder } of packages) {
    await rm(join(folder, "dist"), { recursive: true, force: true })
    await rm(join(folder, "tsconfig.build.tsbuildinfo"), { force: true })
  }
  await succeed(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-b",
    ...packages.map(({ folder }) => join(folder, "tsconfig.build.json"))
  ])
}

const linkDependencies = async ({ folder, manifest }: Package, project: string) => {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  for (const name of names.filter((name) => !name.startsWith("@inspo/"))) {
    const link = join(project, "node_modules", name)
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    await symlink(await realpath(join(folder, "node_modules", name)), link)
  }
}

const succeed = async (program: string, args: ReadonlyArray<string>) => {
  const { code, output } = await run(program, args, root)
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output}`)
}
