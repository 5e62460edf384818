/**
 * `pnpm bench NAME`: runs one performance bench; arguments after the name are the bench's own.
 */
const benches: Readonly<Record<string, string>> = {
  core: "./core.ts",
  engine: "../../packages/engine-local/bench/engine.ts",
  journal: "./journal.ts",
  retrieval: "./retrieval.ts",
  rollout: "./rollout.ts",
  whatif: "../../packages/coevolution/bench/whatif.ts"
}

const [name = "", ...rest] = process.argv.slice(2)
const bench = benches[name]
if (bench === undefined) {
  process.stderr.write(
    `bench: ${JSON.stringify(name)} is not a bench, expected one of ${Object.keys(benches).join(", ")}\n`
  )
  process.exitCode = 2
} else {
  process.argv.splice(2, process.argv.length, ...rest)
  await import(bench)
}
