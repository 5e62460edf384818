import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { Schema } from "effect"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as TicketModel from "../../examples/test/support/TicketModel.ts"
import { Sbom } from "../../tools/licenses/Licenses.ts"
import * as apiReport from "../../tools/docs/apiReport.ts"
import * as Artifacts from "../../tools/release/Artifacts.ts"
import { publish as publishTarball } from "../../tools/release/Registry.ts"
import { programOf } from "../docs-examples/support/Programs.ts"
import type { ModelServer } from "../agents/ModelServer.ts"
import { programsOfDocuments, type Compiled, compileBlocks } from "./suites/Documents.ts"
import { bundles } from "./suites/Bundles.ts"
import { types } from "./suites/Types.ts"
import * as EffectRange from "./support/EffectRange.ts"
import { codeBlocks, examplesOf, linesOfCode, promised, squash } from "./support/Example.ts"
import * as NewProject from "./support/NewProject.ts"
import * as PackageManagers from "./support/PackageManagers.ts"
import { findNode, run } from "./support/Process.ts"
import { type Published, publish } from "./support/Published.ts"
import * as Registry from "./support/Registry.ts"
import * as Runtimes from "./support/Runtimes.ts"
import {
  oldestNode22,
  onNode20,
  packages,
  type Package,
  published as all,
  readManifest,
  root
} from "./support/Workspace.ts"

const asked = process.env["INSPO_PACK"] === "1"
const why = asked ? "" : " (skipped: takes four minutes; set INSPO_PACK=1)"
const runtimes = asked ? await Runtimes.find() : []
const packageManagers = asked ? await PackageManagers.find() : []
const { developed } = EffectRange
const newest = asked ? await EffectRange.newest() : developed
const node20 = findNode(20)
const whyNot20 = node20 === undefined ? " (skipped: there is no node v20 on the PATH)" : ""

describe.skipIf(!asked)(`packages as published${why}`, { timeout: 120_000 }, () => {
  let folder = ""
  let registry: Registry.Registry
  let published: Published
  let compiled: Compiled
  let node22 = ""

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inspo-published-"))
    registry = await Registry.start(join(folder, "registry"))
    published = await publish(folder, registry)
    compiled = await compileBlocks(published.project)
    const { path, problem } = await Runtimes.obtain(`node@${oldestNode22}`, ["node", "-p", "process.execPath"])
    assert.isNull(problem)
    node22 = path
  }, 600_000)

  afterAll(async () => {
    await registry.stop()
    await rm(folder, { recursive: true, force: true })
  }, 120_000)

  /** The program of a README as JavaScript. */
  const exampleOf = ({ name, readme }: Package) => {
    const program = programOf(`packages/${name}`)
    return program === undefined ? examplesOf(readme)[0] : readFileSync(compiled.file(program.name), "utf8")
  }

  /** Runs an example in a project that has the published packages. */
  const runExample = async (node: string, one: Package, project = published.project) => {
    const [example = ""] = examplesOf(one.readme)
    const file = join(project, `${one.name}.mjs`)
    await writeFile(file, exampleOf(one) ?? "")
    const { code, output, stdout } = await run(node, [file], project)
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

      it.skipIf(name === "cli")("has types that modules and bundlers find, as attw sees it", async () => {
        const tarball = createPackageFromTarballData(await readFile(published.tarballOf(one)))
        const result = await checkPackage(tarball)
        const problems = result.types === false ? ["it has no types"] : result.problems
        assert.isNotEmpty("entrypoints" in result ? Object.keys(result.entrypoints) : [])
        // CommonJS and the resolution of Node 10 do not know modules of ESM.
        const isOld = /^(?:node10|node16-cjs)$/u
        assert.deepStrictEqual(
          problems.filter(
            (one) => typeof one === "string" || !("resolutionKind" in one) || !isOld.test(one.resolutionKind)
          ),
          []
        )
      })

      it("names versions, and holds its README and its license", async () => {
        const installed = published.folderOf(one)
        const { dependencies, peerDependencies } = readManifest(installed)
        const { effect = EffectRange.range, ...others } = { ...dependencies, ...peerDependencies }
        assert.strictEqual(effect, EffectRange.range)
        // A peer is the user's, in any version of a range.
        for (const [name, version] of Object.entries(others))
          assert.match(version, peerDependencies?.[name] === undefined ? /^[\d.]+$/u : /^\^[\d.]+$/u)
        assert.strictEqual(await readFile(join(installed, "README.md"), "utf8"), readme)
        assert.isNotEmpty(await readFile(join(installed, "LICENSE"), "utf8"))
      })
    })
  }

  it("export what docs/api.txt reports", () => {
    assert.isTrue(readFileSync(apiReport.file, "utf8") === apiReport.report(), "renew it with: npx pnpm@12 run api")
  })

  it("come with checksums of their tarballs, and a bill of materials", async () => {
    const sums = await readFile(join(published.release, Artifacts.checksums), "utf8")
    const expected = all.map(async (one) => {
      const tarball = published.tarballOf(one)
      return `${createHash("sha256")
        .update(await readFile(tarball))
        .digest("hex")}  ${basename(tarball)}`
    })
    assert.sameMembers(sums.trim().split("\n"), await Promise.all(expected))
    const { components } = decodeSbom(await readFile(join(published.release, Artifacts.sbom), "utf8"))
    assert.include(
      components.map(({ purl }) => purl),
      `pkg:npm/effect@${developed}`
    )
  })

  it("are published again only if that changes nothing", async () => {
    const [one] = all
    assert.isDefined(one)
    const { name, version } = one.manifest
    const filename = published.tarballOf(one)
    const integrity = `sha512-${createHash("sha512")
      .update(await readFile(filename))
      .digest("base64")}`
    const artifact = { name, version, filename, integrity }
    assert.strictEqual(await publishTarball(artifact, registry.url), "was there already")
    const changed = publishTarball({ ...artifact, integrity: "sha512-other" }, registry.url)
    await changed.then(
      () => assert.fail("it was published"),
      (error: unknown) => assert.include(String(error), `another ${name}@${version}`)
    )
  })

  for (const one of packages)
    it(`@inspo/${one.name} keeps the promise of its README`, () => runExample(process.execPath, one))

  for (const one of packages.filter(({ name }) => onNode20.has(name)))
    it.skipIf(node20 === undefined)(`@inspo/${one.name} keeps its promise on Node 20${whyNot20}`, () =>
      runExample(node20 ?? "", one)
    )

  for (const one of packages.filter(({ name }) => !onNode20.has(name)))
    it(`@inspo/${one.name} keeps its promise on Node ${oldestNode22}`, () => runExample(node22, one))

  describe.skipIf(newest === developed)(`with effect ${newest}`, () => {
    beforeAll(() => {
      const names = packages.map(({ manifest }) => manifest.name)
      return NewProject.install(join(folder, "newest"), registry.url, [...names, `effect@${newest}`])
    }, 240_000)

    for (const one of packages)
      it(`@inspo/${one.name} keeps its promise`, () => runExample(process.execPath, one, join(folder, "newest")))
  })

  describe("@inspo/evolve in the project of a new user", () => {
    const { readme } = packages.find(({ name }) => name === "evolve") ?? { readme: "" }
    const [program = ""] = examplesOf(readme)

    /** Installs it by the commands of a page, and checks what the program of its README prints. */
    const keepsPromise = async (manager: PackageManagers.PackageManager, from: string, script: string) => {
      const trial = { folder: join(folder, from, manager.name), script, program, registry: registry.url }
      assert.strictEqual(squash(await PackageManagers.tryOut(manager, trial)), promised(program))
    }

    for (const manager of packageManagers) {
      const { command, name, problem } = manager
      const whyNot = problem === null ? "" : `: ${problem}`

      it.skipIf(problem !== null)(`keeps its promise when ${name} installs it by name${whyNot}`, async () => {
        const commands = codeBlocks(await readFile(join(root, "docs/how-to/install.md"), "utf8"), "sh").join("")
        const script = commands.split("\n").find((line) => line.startsWith(`${command} `))
        await keepsPromise(manager, "by-name", script ?? "")
      })

      it.skipIf(problem !== null || name === "Deno")(
        `keeps its promise when ${name} installs its tarball${whyNot}`,
        async () => {
          const page = await readFile(join(root, "docs/release.md"), "utf8")
          const [script = ""] = codeBlocks(page.slice(page.indexOf(`### ${name}\n`)), "sh")
          const { version } = readManifest(join(root, "packages/evolve"))
          assert.include(script, version)
          await keepsPromise(manager, "by-tarball", script.replaceAll("/tmp/inspo", published.release))
        }
      )
    }
  })

  describe("the first program of the repository's README, in a new project", () => {
    let project = ""
    let model: { readonly server: ModelServer; readonly url: string }

    beforeAll(async () => {
      project = join(folder, "new-project")
      model = await TicketModel.start()
      await NewProject.install(project, registry.url, ["@inspo/evolve", ...peers])
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

    it("prints its verbs and its schedule", async () => {
      const help = await inspo(process.execPath, "--help")
      assert.strictEqual(help.code, 0, help.output)
      const { version } = readManifest(join(root, "apps/cli"))
      assert.include((await inspo(process.execPath, "--version")).stdout, `v${version}`)
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
        // The page loads its views on demand, so each file that a loaded file names is requested too.
        const sizes = new Map<string, number>()
        const load = async (path: string): Promise<void> => {
          if (sizes.has(path)) return
          sizes.set(path, 0)
          const answer = await fetch(new URL(path, url))
          assert.strictEqual(answer.status, 200, path)
          const text = await answer.text()
          sizes.set(path, text.length)
          for (const [, named = ""] of text.matchAll(/(?:assets|\.)\/([\w-]+\.(?:js|css))/gu))
            await load(`assets/${named}`)
        }
        await load("")
        const scripts = [...sizes].filter(([path]) => path.endsWith(".js"))
        assert.isAbove(scripts.length, 3)
        assert.isAbove(
          scripts.reduce((sum, [, size]) => sum + size, 0),
          100_000
        )
      } finally {
        if (server.pid !== undefined) process.kill(-server.pid, "SIGINT")
        await once(server, "close")
      }
    })
  })

  programsOfDocuments(() => compiled)
  types(() => published)
  bundles(() => published.project)
})

const decodeSbom = Schema.decodeSync(Schema.fromJsonString(Sbom))

/** What the program needs besides inspo, at the versions that the foreign software is tested with. */
const peers = [
  `effect@${developed}`,
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
