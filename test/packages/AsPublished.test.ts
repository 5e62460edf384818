import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { publint } from "publint"
import { build } from "vite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as TicketModel from "../../examples/test/support/TicketModel.ts"
import type { ModelServer } from "../agents/ModelServer.ts"
import { range } from "./support/EffectRange.ts"
import { codeBlocks, linesOfCode, promised, squash } from "./support/Example.ts"
import * as NewProject from "./support/NewProject.ts"
import { findNode, run } from "./support/Process.ts"
import { type Published, publish } from "./support/Published.ts"
import * as Runtimes from "./support/Runtimes.ts"
import {
  entries,
  installedWith,
  modules,
  oldestNode22,
  onNode20,
  packages,
  published as all,
  readManifest,
  root
} from "./support/Workspace.ts"

const asked = process.env["INSPO_PACK"] === "1"
const why = asked ? "" : " (skipped: takes two minutes; set INSPO_PACK=1)"
const runtimes = asked ? await Runtimes.find() : []
const node20 = findNode(20)
const whyNot20 = node20 === undefined ? " (skipped: there is no node v20 on the PATH)" : ""

describe.skipIf(!asked)(`packages as published${why}`, { timeout: 120_000 }, () => {
  let folder = ""
  let published: Published
  let node22 = ""

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inspo-published-"))
    published = await publish(folder)
    const { path, problem } = await Runtimes.obtain(`node@${oldestNode22}`, ["node", "-p", "process.execPath"])
    assert.isNull(problem)
    node22 = path
  }, 240_000)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Runs an example as plain JavaScript beside the published packages. */
  const runExample = async (node: string, name: string, readme: string) => {
    const [example = ""] = codeBlocks(readme, "js")
    const file = join(published.project, `${name}.mjs`)
    await writeFile(file, example)
    const { code, output, stdout } = await run(node, [file], published.project)
    assert.strictEqual(code, 0, output)
    assert.strictEqual(squash(stdout), promised(example))
  }

  for (const one of all) {
    const { name, readme } = one

    describe(`@inspo/${name}`, () => {
      it("is packed as publint wants it", async () => {
        const tarball = Uint8Array.from(await readFile(published.tarballOf(one))).buffer
        const { messages } = await publint({ pack: { tarball }, strict: true })
        assert.deepStrictEqual(messages, [])
      })

      it("names versions, and holds its README and its license", async () => {
        const installed = published.folderOf(one)
        const { dependencies, peerDependencies } = readManifest(installed)
        const { effect = range, ...others } = { ...dependencies, ...peerDependencies }
        assert.strictEqual(effect, range)
        for (const version of Object.values(others)) assert.match(version, /^[\d.]+$/u)
        assert.strictEqual(await readFile(join(installed, "README.md"), "utf8"), readme)
        assert.isNotEmpty(await readFile(join(installed, "LICENSE"), "utf8"))
      })
    })
  }

  for (const { name, readme } of packages)
    it(`@inspo/${name} keeps the promise of its README`, () => runExample(process.execPath, name, readme))

  for (const { name, readme } of packages.filter(({ name }) => onNode20.has(name)))
    it.skipIf(node20 === undefined)(`@inspo/${name} keeps its promise on Node 20${whyNot20}`, () =>
      runExample(node20 ?? "", name, readme)
    )

  for (const { name, readme } of packages.filter(({ name }) => !onNode20.has(name)))
    it(`@inspo/${name} keeps its promise on Node ${oldestNode22}`, () => runExample(node22, name, readme))

  describe("the first program of the repository's README, in a new project", () => {
    let project = ""
    let model: { readonly server: ModelServer; readonly url: string }

    beforeAll(async () => {
      project = join(folder, "new-project")
      model = await TicketModel.start()
      const tarballs = all.filter(({ name }) => installedWith("evolve").has(name)).map(published.tarballOf)
      await NewProject.install(project, [...tarballs, ...peers])
      const [program = ""] = codeBlocks(await readFile(join(root, "README.md"), "utf8"), "typescript")
      assert.isAtMost(linesOfCode(program), 12)
      await writeFile(join(project, "improve.ts"), program)
      await copyFile(join(TicketModel.folder, "tickets.csv"), join(project, "tickets.csv"))
      const { code, output } = await NewProject.compile(project)
      assert.strictEqual(code, 0, output)
    }, 240_000)

    afterAll(() => model.server.stop())

    for (const { command, name, problem, runsTypeScript } of runtimes)
      it.skipIf(problem !== null)(
        `finds a better prompt in ${name}${problem === null ? "" : `: ${problem}`}`,
        async () => {
          const [program, ...args] = command
          const env = { ...process.env, OPENAI_API_KEY: "key-of-the-test", OPENAI_BASE_URL: model.url }
          const file = runsTypeScript ? "improve.ts" : "dist/improve.js"
          const { code, output, stdout } = await run(program, [...args, file], project, env)
          assert.strictEqual(code, 0, output)
          assert.match(stdout, /^# A better prompt\n/u)
          assert.include(stdout, TicketModel.good)
        }
      )
  })

  describe("inspo", () => {
    /** Runs the command as `npx` does in the project, on the given Node. */
    const inspo = (node: string, ...args: ReadonlyArray<string>) =>
      run("npx", ["--no", "--", "inspo", ...args], published.project, onPath(node))

    it("tells its verbs and its schedule", async () => {
      const help = await inspo(process.execPath, "--help")
      assert.strictEqual(help.code, 0, help.output)
      for (const verb of ["init", "run", "dashboard"]) assert.match(help.stdout, new RegExp(`^ +${verb} `, "mu"))
      const plan = await inspo(process.execPath, "plan", "--preset", "tiny")
      assert.strictEqual(plan.code, 0, plan.output)
      assert.match(plan.output, /training rollouts +24/u)
    })

    it(`runs as it does in the repository, to the bit, on Node ${oldestNode22} too`, async () => {
      const args = ["run", "--preset", "tiny", "--out"]
      const main = join(root, "apps/cli/src/main.ts")
      const source = await run(process.execPath, [main, ...args, "source"], published.project)
      assert.strictEqual(source.code, 0, source.output)
      const metrics = (out: string) => readFile(join(published.project, out, "metrics.jsonl"), "utf8")
      for (const [out, node] of Object.entries({ packed: process.execPath, older: node22 })) {
        const { code, output } = await inspo(node, ...args, out)
        assert.strictEqual(code, 0, output)
        // Its static baseline is known to be that of equal code.
        assert.include(squash(output), "read from a results file of the same checkpoint, data, config and code")
        assert.include(output, `npx inspo show ${out}`)
        assert.strictEqual(await metrics(out), await metrics("source"))
      }
    }, 300_000)

    it("brings the static baselines that are known", async () => {
      const cli = all.find(({ name }) => name === "cli")
      assert.isDefined(cli)
      const ofPackage = await readFile(join(published.folderOf(cli), "baselines.jsonl"), "utf8")
      assert.strictEqual(ofPackage, await readFile(join(cli.folder, "baselines.jsonl"), "utf8"))
    })

    it("serves the page of the dashboard", async () => {
      const args = ["--no", "--", "inspo", "dashboard", "--port", "0", "--json", "."]
      const server = spawn("npx", args, { cwd: published.project, env: onPath(process.execPath), detached: true })
      try {
        const [line] = await once(server.stdout, "data")
        const { url } = JSON.parse(String(line))
        const page = await (await fetch(url)).text()
        const [, script = ""] = /<script[^>]+src="([^"]+)"/u.exec(page) ?? []
        const answer = await fetch(new URL(script, url))
        assert.strictEqual(answer.status, 200)
        assert.isAbove((await answer.text()).length, 100_000)
      } finally {
        if (server.pid !== undefined) process.kill(-server.pid, "SIGINT")
        await once(server, "close")
      }
    })
  })

  for (const moduleResolution of ["nodenext", "bundler"]) {
    it(`has types for every module, by ${moduleResolution}`, async () => {
      const importable = packages.flatMap((one) =>
        modules(one)
          .filter((module) => !module.startsWith("internal/") && !module.includes("/internal/"))
          .map((module) => (module === "index" ? one.manifest.name : `${one.manifest.name}/${module}`))
      )
      // What resolves to no types is `any`, and has every member.
      const lines = importable.map(
        (entry, index) => `import * as m${index} from "${entry}"\n// @ts-expect-error\nm${index}.isNoMemberOfIt`
      )
      await writeFile(join(published.project, "types.mts"), `${lines.join("\n")}\n`)
      await writeFile(
        join(published.project, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            moduleResolution,
            module: moduleResolution === "bundler" ? "esnext" : "nodenext",
            target: "es2024",
            strict: true,
            noEmit: true,
            skipLibCheck: true,
            types: ["node"],
            typeRoots: [join(root, "node_modules/@types")]
          },
          files: ["types.mts"]
        })
      )
      const tsc = join(root, "node_modules/typescript/bin/tsc")
      const { code, output } = await run(process.execPath, [tsc, "-p", "tsconfig.json"], published.project)
      assert.strictEqual(code, 0, output)
    })
  }

  it("tree-shakes: what is not used is not bundled", async () => {
    const unused = packages
      .flatMap(entries)
      .map((entry) => `import "${entry}"`)
      .join("\n")
    assert.strictEqual(squash(await bundle(unused)), "")
    const stream = await bundle(
      'import { QuestionStream } from "@inspo/sampler"\nexport const { batch } = QuestionStream'
    )
    assert.include(stream, "perEpoch")
    assert.notInclude(stream, "guaranteed")
  })

  const bundle = async (code: string): Promise<string> => {
    const entry = join(published.project, "entry.mjs")
    await writeFile(entry, code)
    const built = await build({
      root: published.project,
      logLevel: "error",
      configFile: false,
      build: {
        write: false,
        minify: false,
        lib: { entry, formats: ["es"] },
        rolldownOptions: { external: /^(?!@inspo\/|\.|\/)/u }
      }
    })
    return [built]
      .flat()
      .flatMap((one) => ("output" in one ? one.output.map((file) => ("code" in file ? file.code : "")) : []))
      .join("\n")
  }
})

/** What the program needs besides inspo, at the versions that the foreign software is tested with. */
const peers = [
  "effect@4.1.0",
  ...readFileSync(join(root, "test/compatibility/packages.txt"), "utf8")
    .split("\n")
    .filter((spec) => spec.startsWith("@langchain/"))
]

/** An environment in which `node` is found first, without colours. */
const onPath = (node: string): NodeJS.ProcessEnv => ({
  ...process.env,
  FORCE_COLOR: undefined,
  NO_COLOR: "1",
  PATH: `${dirname(node)}${delimiter}${process.env["PATH"] ?? ""}`
})
