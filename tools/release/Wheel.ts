/** The wheel of the Python client, with the command line as one bundle that needs Node and nothing of npm. */
import { existsSync } from "node:fs"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Schema } from "effect"
import { build } from "esbuild"
import { codeHash } from "../../apps/cli/src/config/CodeHash.ts"
import { run } from "./run.ts"

/** Makes the wheel in a folder, and returns its file. The embedded engine's runtime, 290 MB, is left to `inspo_client.embedded`. */
export const make = async (root: string, folder: string): Promise<string> => {
  const work = await mkdtemp(join(tmpdir(), "inspo-wheel-"))
  try {
    await cp(join(root, "clients/python"), work, { recursive: true })
    const cli = join(work, "src/inspo_client/_cli")
    await bundle(root, join(cli, "dist"))
    await writeFile(join(cli, "package.json"), await manifest(root))
    await cp(join(root, "apps/cli/baselines.jsonl"), join(cli, "baselines.jsonl"))
    await cp(join(root, "packages/engine-local/model"), join(cli, "model"), { recursive: true })
    const page = join(root, "packages/dashboard/dist/page")
    if (!existsSync(page)) await run(process.execPath, ["page/build.ts"], join(root, "packages/dashboard"))
    await cp(page, join(cli, "dist/page"), { recursive: true })
    const printed = await run("python3", ["-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, work], root)
    return join(folder, /inspo_client-[\w.]+-py3-none-any\.whl/u.exec(printed)?.[0] ?? "")
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The version of the command line, and what npm adds for the embedded engine. */
const manifest = async (root: string): Promise<string> => {
  const read = async (file: string) => decode(await readFile(join(root, file), "utf8"))
  const { version } = await read("apps/cli/package.json")
  const { version: runtime } = await read("packages/engine-local/node_modules/onnxruntime-node/package.json")
  return JSON.stringify({
    name: "inspo",
    private: true,
    version,
    type: "module",
    dependencies: { "onnxruntime-node": runtime }
  })
}

const decode = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

/** Workers are started by the names that they have in their packages. */
const bundle = async (root: string, outdir: string) => {
  const code = await Effect.runPromise(Effect.provide(codeHash(), NodeServices.layer))
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: "apps/cli/src/main.ts",
      worker: "packages/engine-local/src/internal/worker.ts",
      "internal/worker": "packages/serve/src/live/internal/worker.ts"
    },
    outdir,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node22",
    logLevel: "error",
    external: ["onnxruntime-node", "@inspo/engine-local/package.json", "vite"],
    define: { INSPO_BUNDLED_CODE: JSON.stringify(code) },
    banner: {
      js: 'import { createRequire as __requireOf } from "node:module"; const require = __requireOf(import.meta.url);'
    }
  })
}
