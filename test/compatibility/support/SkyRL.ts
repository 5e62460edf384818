import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { ModelFolder } from "@inspo/engine-local"
import * as Foreign from "./Foreign.ts"

const local = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** No hub is contacted, and kernels are compiled once for all servers. */
const environment = {
  ...process.env,
  PATH: `${dirname(Foreign.python)}:${process.env["PATH"]}`,
  HF_HUB_OFFLINE: "1",
  JAX_PLATFORMS: "cpu",
  JAX_COMPILATION_CACHE_DIR: local("../../../.cache/jax"),
  JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: "0"
}

/** A Llama of random weights with the tokenizer that ships, in a folder. */
export const writeModel = async (folder: string): Promise<void> => {
  await promisify(execFile)(Foreign.python, [local("../python/tiny_llama.py"), ModelFolder.shipped, folder], {
    env: environment
  })
}

export interface Server {
  readonly url: string
  /** Ends it and its engine at once, as `kill -9` does. */
  readonly kill: () => Promise<void>
  /** Whether the server creates a model now; it is unloaded at once. */
  readonly hasRoom: () => Promise<boolean>
}

const alive = new Set<ChildProcess>()

/** Ends servers that a failed test left running. */
export const endAll = (): void => {
  for (const child of alive) killGroup(child)
}

/** SkyRL's API server on the JAX backend, with room for one model; its state is in `folder`, across restarts. */
export const start = async (folder: string, model: string, port: number): Promise<Server> => {
  const log = openSync(join(folder, "skyrl.log"), "a")
  const flags = {
    "base-model": model,
    backend: "jax",
    "backend-config": JSON.stringify({
      max_lora_adapters: 2,
      max_lora_rank: 8,
      sample_max_num_sequences: 8,
      train_micro_batch_size: 8
    }),
    "database-url": `sqlite:///${join(folder, "tinker.db")}`,
    "checkpoints-base": join(folder, "checkpoints"),
    host: "127.0.0.1",
    port: String(port)
  }
  const given = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(
    Foreign.program("uv"),
    ["run", "--no-project", "--python", Foreign.python, "-m", "skyrl.tinker.api", ...given],
    // A group of its own: its engine is a process of its own, which outlives the server.
    { env: environment, cwd: folder, detached: true, stdio: ["ignore", log, log] }
  )
  closeSync(log)
  alive.add(child)
  const closed = once(child, "close").then(() => alive.delete(child))
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/api/v1/get_server_capabilities`).then(
      ({ ok }) => ok,
      () => false
    )
  while (!(await answers())) {
    if (!alive.has(child)) throw new Error(`SkyRL ended: ${await readFile(join(folder, "skyrl.log"), "utf8")}`)
    await setTimeout(500)
  }
  return {
    url,
    kill: async () => {
      killGroup(child)
      await closed
    },
    hasRoom: () => hasRoom(url, model)
  }
}

const killGroup = (child: ChildProcess) => {
  if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
}

const hasRoom = async (url: string, model: string) => {
  const post = async (path: string, body: object): Promise<{ readonly status: number; readonly text: string }> => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return { status: response.status, text: await response.text() }
  }
  const read = (name: string, text: string) => new RegExp(`"${name}":\\s*"([^"]+)"`, "u").exec(text)?.[1] ?? ""
  const session = read("session_id", (await post("create_session", { tags: [], sdk_version: "test" })).text)
  const asked = await post("create_model", {
    session_id: session,
    model_seq_id: 0,
    base_model: model,
    lora_config: { rank: 8 }
  })
  const made = await post("retrieve_future", { request_id: read("request_id", asked.text) })
  const freed = await post("unload_model", { model_id: read("model_id", asked.text) })
  await post("retrieve_future", { request_id: read("request_id", freed.text) })
  return made.status === 200
}
