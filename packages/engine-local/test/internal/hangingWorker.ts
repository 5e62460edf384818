import { parentPort } from "node:worker_threads"

// Answers samples, and never an evaluation.
parentPort?.on("message", ({ task }: { readonly task: string }) => {
  if (task === "sample") parentPort?.postMessage({ reply: [] })
})
