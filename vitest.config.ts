import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{packages,apps,research}/*/test/**/*.test.ts", "{examples,test}/**/*.test.ts"],
    tags: [
      { name: "deep", description: "takes seconds: a stage of CI, left out of pnpm test" },
      { name: "runs", description: "makes whole runs, for ten seconds and more: a stage of CI, left out of pnpm test" }
    ],
    setupFiles: ["./vitest.setup.ts"],
    // Properties repeat whole runs, and two cores may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    // Half of the time is spent in programs that tests start, so the one worker that two cores get would leave one idle.
    maxWorkers: Math.max(2, availableParallelism() - 1)
  }
})
