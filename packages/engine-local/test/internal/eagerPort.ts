import { parentPort } from "node:worker_threads"

// Messages flow from here on, so that one is lost until the worker listens, as in Deno.
parentPort?.on("message", () => {})
