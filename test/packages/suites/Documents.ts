import { mkdir, readdir, realpath, rm, symlink } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { compile, programs } from "../../docs-examples/support/Programs.ts"
import { run } from "../support/Process.ts"
import { root } from "../support/Workspace.ts"

/** The programs of all documents, READMEs and docstrings in a project that has the packages as they are published. */
export interface Compiled {
  readonly errors: ReadonlyArray<string>
  /** The JavaScript of a program. */
  readonly file: (name: string) => string
  readonly folder: string
}

/** Compiles the programs below the project, beside the foreign packages that they import. */
export const compileBlocks = async (project: string): Promise<Compiled> => {
  const folder = join(project, "documents/programs")
  await linkForeign(join(project, "documents/node_modules"))
  const errors = await compile(folder)
  return { errors, folder, file: (name) => join(folder, "dist", `${name}.js`) }
}

/** What `test` depends on besides packages of the workspace, such as the AI SDK. */
const linkForeign = async (modules: string) => {
  const from = join(root, "test/node_modules")
  const entries = await readdir(from, { recursive: false })
  const scoped = entries.filter((name) => name.startsWith("@") && name !== "@inspo")
  const inScopes = await Promise.all(
    scoped.map(async (scope) => (await readdir(join(from, scope))).map((name) => `${scope}/${name}`))
  )
  for (const name of [...entries.filter((entry) => /^\w/u.test(entry)), ...inScopes.flat()]) {
    const link = join(modules, name)
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    await symlink(await realpath(join(from, name)), link, "junction")
  }
}

/** Checks the types of all programs, and runs them. */
export const programsOfDocuments = (compiled: () => Compiled): void => {
  describe("the programs of all documents, READMEs and docstrings", () => {
    it("have types that hold, with the strictest checks, and so do the declarations that they use", () => {
      assert.deepStrictEqual(compiled().errors, [])
    })

    it("run, unless they declare what the reader has, or call a hosted model", async () => {
      const waiting = programs.filter(({ runs }) => runs)
      assert.isAbove(waiting.length, 70)
      const failed: Array<string> = []
      const work = async () => {
        for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
          const { code, output } = await run(process.execPath, [compiled().file(one.name)], compiled().folder)
          if ((code !== 0) !== one.throws) failed.push(`${one.place} ended with ${code}: ${output}`)
        }
      }
      await Promise.all(Array.from({ length: availableParallelism() }, work))
      assert.deepStrictEqual(failed, [])
    })
  })
}
