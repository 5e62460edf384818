#!/usr/bin/env node
// In syntax that old versions of Node can read, and without static imports, so that they can say what is missing.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  const found = process.versions.node
  process.stderr.write(`inspo: This is Node ${found}, expected 22.19 or later. Install it from https://nodejs.org.\n`)
  process.exitCode = 2
} else {
  const { enableCompileCache } = await import("node:module")
  // Before anything else is loaded: a start then takes half the processor time of the first one.
  enableCompileCache()
  // Schemas are compiled on first use, before which this has to be loaded.
  await import("effect/schema/SchemaJITCompiler/enable")
  const { main } = await import("./Cli.ts")
  main()
}
