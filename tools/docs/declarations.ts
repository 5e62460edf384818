/** The built declarations of a package. */
import { existsSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { documented, type Package } from "../../test/packages/support/Workspace.ts"

/** The declarations of a module. */
export const read = (one: Package, module: string): string => {
  const file = join(one.folder, "dist", `${module}.d.ts`)
  if (!existsSync(file)) throw new Error(`there is no ${file}; make it with: pnpm build`)
  return readFileSync(file, "utf8")
}

/** The modules that make up the API of a package: those that users may import, and those that these export from. */
export const modulesOfApi = (one: Package): ReadonlyArray<string> => {
  const found = new Set(documented(one))
  for (const module of found)
    for (const [, path = ""] of read(one, module).matchAll(/^export (?:type )?(?:\*|\{)[^;]*? from "(\.[^"]+)\.ts"/gmu))
      found.add(posix.join(posix.dirname(module), path))
  return [...found].sort()
}
