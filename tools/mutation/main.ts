/**
 * Asks the tests of the pure packages whether they would notice a fault: plants the listed mutations one at a time in a
 * copy of the repository and runs the tests that should fail.
 *
 *     node tools/mutation/main.ts [part of a file name, or of what a mutation breaks]
 *
 * Prints one line of JSON and a table. Exits with 1 when less than 90 % are noticed, or when a mutation no longer fits
 * the source.
 */
import { spawnSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mutations } from "./mutations.ts"
import type { Mutation } from "./planted.ts"

const root = join(import.meta.dirname, "../..")
const required = 0.9
/** A mutation that makes a loop endless is noticed by its tests taking so many times as long. */
const timeLimit = 10
const leastMilliseconds = 30_000

/** The tests that should notice a fault in a file, the quickest first. */
const testsOf = (file: string): ReadonlyArray<string> => {
  const [kind = "", name = "", , ...path] = file.replace(/\.ts$/, "").split("/")
  const module = path.at(-1) ?? ""
  const own = `${kind}/${name}/test`
  const mirror = `${own}/${module}.test.ts`
  const laws = name === "coevolution" ? ["test/laws/golden", "test/laws"] : []
  if (name === "evolution")
    return [own, "test/laws/golden", "packages/cohorts/test", "test/laws", "packages/coevolution/test"]
  if (module === "Proposing") return [`${own}/Demonstrations.test.ts`]
  if (module === "Difference") return [`${own}/Comparison.test.ts`]
  if (throughCohorts.has(module)) return [own, "packages/cohorts/test"]
  if (file.startsWith("docs/")) return ["test/docs-examples/OwnEngine.test.ts"]
  if (file.includes("/data/traces/")) return ["apps/cli/test/data"]
  if (name === "client") return ["test/clients/Suite.test.ts", "test/clients/Faults.test.ts"]
  return [...(existsSync(join(root, mirror)) ? [mirror] : []), ...laws, own]
}

/** Modules of pure packages whose laws are stated for a served population. */
const throughCohorts: ReadonlySet<string> = new Set(["Values"])

const copyRepository = (to: string): void => {
  for (const entry of [
    "apps",
    "packages",
    "clients",
    "deploy",
    "docs",
    "research",
    "examples",
    "test",
    "CHANGELOG.md",
    "tools",
    "package.json",
    "tsconfig.base.json",
    "tsconfig.json",
    "vitest.config.ts",
    "vitest.setup.ts"
  ])
    cpSync(join(root, entry), join(to, entry), { recursive: true, verbatimSymlinks: true })
  // A folder of its own, since tools write caches into it.
  mkdirSync(join(to, "node_modules"))
  for (const entry of readdirSync(join(root, "node_modules")))
    if (entry !== ".vite" && entry !== ".cache")
      symlinkSync(join(root, "node_modules", entry), join(to, "node_modules", entry))
}

/** The output of tests that fail in the copy or exceed the time limit; null if they pass. */
const failure = (copy: string, tests: string, timeout?: number): string | null => {
  const vitest = join(copy, "node_modules/vitest/vitest.mjs")
  const { status, stderr, stdout } = spawnSync(process.execPath, [vitest, "run", "--bail=1", "--reporter=dot", tests], {
    cwd: copy,
    timeout,
    killSignal: "SIGKILL",
    encoding: "utf8"
  })
  return status === 0 ? null : `${stdout}${stderr}`
}

/** The time limit of tests in the copy, or their output if they fail without any mutation. */
const limitOf = (copy: string, tests: string): number | string => {
  const start = performance.now()
  return failure(copy, tests) ?? Math.ceil(Math.max(leastMilliseconds, timeLimit * (performance.now() - start)))
}

/** Plants a mutation, runs the tests, and removes it; whether the tests passed. */
const survives = (
  copy: string,
  { file, replacement, text }: Mutation,
  limits: ReadonlyMap<string, number>
): boolean => {
  const path = join(copy, file)
  const source = readFileSync(path, "utf8")
  writeFileSync(
    path,
    source.replace(text, () => replacement)
  )
  try {
    return testsOf(file).every((tests) => failure(copy, tests, limits.get(tests)) === null)
  } finally {
    writeFileSync(path, source)
  }
}

const main = (): void => {
  const chosen = mutations.filter(({ breaks, file }) => `${file}\n${breaks}`.includes(process.argv[2] ?? ""))
  const stale = chosen.filter(({ file, text }) => readFileSync(join(root, file), "utf8").split(text).length !== 2)
  if (chosen.length === 0 || stale.length > 0) {
    const problems = stale.map(({ file, text }) => `${file}: expected the text ${JSON.stringify(text)} exactly once`)
    return fail(chosen.length === 0 ? ["no mutation matches this text in its file or its description"] : problems)
  }
  const copy = mkdtempSync(join(tmpdir(), "inspo-mutation-"))
  try {
    copyRepository(copy)
    const limits = new Map<string, number>()
    for (const tests of new Set(chosen.flatMap(({ file }) => testsOf(file)))) {
      const limit = limitOf(copy, tests)
      if (typeof limit === "string") return fail([`${tests} fails without any mutation:`, limit])
      limits.set(tests, limit)
    }
    report(
      chosen.map((mutation, index) => {
        const survived = survives(copy, mutation, limits)
        process.stderr.write(
          `${index + 1}/${chosen.length} ${survived ? "survived" : "killed"}: ${describe(mutation)}\n`
        )
        return { ...mutation, survived }
      })
    )
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const describe = ({ breaks, file }: Mutation) => `${file.replace("packages/", "").replace("/src", "")}: ${breaks}`

const report = (results: ReadonlyArray<Mutation & { readonly survived: boolean }>): void => {
  const survivors = results.filter(({ survived }) => survived)
  const killed = results.length - survivors.length
  const share = killed / results.length
  const files = [...Map.groupBy(results, ({ file }) => file)].map(
    ([file, own]) => `| ${file} | ${own.length} | ${own.filter(({ survived }) => !survived).length} |`
  )
  process.stdout.write(
    [
      JSON.stringify({
        bench: "mutation",
        mutations: results.length,
        killed,
        share: Number(share.toFixed(3)),
        required,
        survivors: survivors.map(({ breaks, file, replacement, text }) => ({ file, text, replacement, breaks }))
      }),
      "",
      "| file | mutations | killed |",
      "|---|---:|---:|",
      ...files,
      ...survivors.map((survivor) => `survived: ${describe(survivor)}`),
      ""
    ].join("\n")
  )
  if (share < required) process.exitCode = 1
}

const fail = (problems: ReadonlyArray<string>): void => {
  process.stderr.write(problems.map((problem) => `mutation: ${problem}\n`).join(""))
  process.exitCode = 1
}

main()
