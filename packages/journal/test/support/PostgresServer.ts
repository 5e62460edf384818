import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

/** A private server, reached over a socket in a folder of its own. */
export interface PostgresServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Why no server can be started here, or null. */
export const unavailable: string | null = ["postgres", "initdb"].every((name) => find(name) !== undefined)
  ? null
  : "PostgreSQL is not installed (postgres and initdb are not on the PATH)"

/**
 * Starts a server whose data are gone afterwards; `sync` brings each commit to the disk all the same. PostgreSQL refuses to
 * run as root, so it then runs as `postgres`.
 */
export const start = async ({ sync = false } = {}): Promise<PostgresServer> => {
  const folder = mkdtempSync(join(tmpdir(), "inspo-pg-"))
  const data = join(folder, "data")
  const owner = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {}
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const options = { ...owner, cwd: folder, stdio: "ignore" } as const
  execFileSync(
    find("initdb") ?? "",
    ["-D", data, "-U", "inspo", "-A", "trust", "-N", "--locale=C", "-E", "UTF8"],
    options
  )
  const server = spawn(
    find("postgres") ?? "",
    [
      "-D",
      data,
      "-k",
      folder,
      "-c",
      "listen_addresses=",
      "-c",
      `fsync=${sync ? "on" : "off"}`,
      "-c",
      "max_connections=50"
    ],
    options
  )
  const ended = once(server, "exit")
  // Its socket is there before it takes connections; its pid file ends with its state.
  const pid = join(data, "postmaster.pid")
  for (let waited = 0; !existsSync(pid) || !readFileSync(pid, "utf8").includes("ready"); waited += 20) {
    if (waited > 20_000 || server.exitCode !== null) throw new Error("PostgreSQL did not start")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    url: `postgres://inspo@localhost/postgres?host=${encodeURIComponent(folder)}`,
    stop: async () => {
      server.kill("SIGINT")
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function find(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file))
}

function id(flag: string): number {
  return Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
}
