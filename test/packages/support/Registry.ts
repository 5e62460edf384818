import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { run } from "./Process.ts"
import { root } from "./Workspace.ts"

/** A registry on this machine, which forgets what is published into it. */
export interface Registry {
  readonly url: string
  /** A npm configuration that may publish into it. */
  readonly config: string
  readonly stop: () => Promise<void>
}

/** Serves `@inspo/*` from a folder, and all else from the registry that npm is configured with. */
export const start = async (folder: string): Promise<Registry> => {
  const program = await obtain()
  const upstream = (await run("npm", ["config", "get", "registry"], root)).stdout.trim()
  const url = `http://127.0.0.1:${await freePort()}/`
  await mkdir(folder, { recursive: true })
  const settings = join(folder, "settings.yaml")
  await writeFile(settings, JSON.stringify(settingsOf(join(folder, "storage"), upstream)))
  const config = join(folder, "npmrc")
  // npm publishes nothing without a token; this registry accepts any.
  await writeFile(config, `//${new URL(url).host}/:_authToken=any\n`)

  const server = spawn(process.execPath, [program, "--config", settings, "--listen", url], { stdio: "ignore" })
  const ended = once(server, "exit")
  await answer(url, ended)
  return {
    url,
    config,
    stop: async () => {
      server.kill()
      await ended
    }
  }
}

const version = "6.10.4"

/** Installs verdaccio in a folder of its own: it needs more packages than the lockfile of the workspace has. */
const obtain = async (): Promise<string> => {
  const folder = join(root, ".cache", `verdaccio-${version}`)
  const program = join(folder, "node_modules/verdaccio/bin/verdaccio")
  if (existsSync(program)) return program
  await mkdir(folder, { recursive: true })
  // It asks for `node-fetch` by the name of a tag, which not every registry has.
  const manifest = { private: true, dependencies: { verdaccio: version }, overrides: { "node-fetch": "2.7.0" } }
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest))
  const npm = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
  const { code, output } = await run("npm", npm, folder)
  if (code !== 0) throw new Error(`npm ${npm.join(" ")} ended with ${code}:\n${output}`)
  return program
}

const settingsOf = (storage: string, upstream: string) => ({
  storage,
  max_body_size: "100mb",
  uplinks: { upstream: { url: upstream } },
  packages: { "@inspo/*": { access: "$all", publish: "$all" }, "**": { access: "$all", proxy: "upstream" } },
  web: { enable: false }
})

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  await once(server.close(), "close")
  if (address === null || typeof address === "string") throw new Error("a server that listens has no port")
  return address.port
}

/** Waits until the registry answers. */
const answer = async (url: string, ended: Promise<unknown>): Promise<void> => {
  const isUp = () =>
    fetch(new URL("-/ping", url)).then(
      ({ ok }) => ok,
      () => false
    )
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  while (!(await isUp())) {
    if (hasEnded) throw new Error("the registry ended before it answered")
    await setTimeout(100)
  }
}
