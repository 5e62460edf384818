import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{packages,apps}/*/test/**/*.test.ts", "{examples,test}/**/*.test.ts"],
    setupFiles: ["./vitest.setup.ts"],
    // Properties repeat whole runs, and two cores may be busy.
    testTimeout: 60_000,
    isolate: false
  }
})
