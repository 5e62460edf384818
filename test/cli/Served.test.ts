import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { better, converse, make, seed, serve, worse } from "../browser/support/Served.ts"
import { assertToldInOneParagraph, endAll, inspo, testTimeout } from "./Inspo.ts"

const shop = "served/populations/shop"

describe("a served population, from its directory", { timeout: testTimeout, tags: "runs" }, () => {
  let cwd = ""
  let page: Response | undefined

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-served-"))
    const server = await serve(cwd)
    await make(server.url, "shop", {
      seed,
      variants: [better, worse],
      settings: { sealAfterLeases: 50, schedule: { evolveEvery: 0 } }
    })
    await converse(server.url, "shop", 1000)
    page = await fetch(server.url)
    await server.stop()
  }, testTimeout)

  afterAll(async () => {
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  const json = async (...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await inspo([...args, "--json"], { cwd })
    assert.strictEqual(code, 0, stderr)
    return JSON.parse(stdout)
  }

  it("is shown on a page that may load nothing from elsewhere", async () => {
    assert.strictEqual(page?.status, 200)
    assert.include((await page?.text()) ?? "", 'data-source="populations"')
    assert.include(page?.headers.get("content-security-policy") ?? "", "default-src 'none'")
  })

  it("is no run for the dashboard of runs, which says where its page is", async () => {
    for (const directory of ["served", shop])
      assertToldInOneParagraph(
        await inspo(["dashboard", directory, "--port", "0"], { cwd }),
        2,
        "`inspo serve --out DIR`"
      )
  })

  it("is shown with its lineage, as the server would show it", async () => {
    const { populations } = await json("show", "served")
    const { directory, incumbent, population } = populations.find((one: any) => one.population.name === "shop")
    assert.strictEqual(directory, shop)
    assert.strictEqual(population.incumbent, "i1")
    assert.strictEqual(incumbent.reason, "evidence")
    // Its answer has no field that is never filled.
    assert.sameMembers(Object.keys(incumbent), ["instruction", "reason", "why"])
    assert.deepStrictEqual([population.leases.given, population.leases.lost], [1000, 0])
    const { instructions } = await json("show", shop, "--lineage")
    assert.deepStrictEqual(
      instructions.map(({ content, left }: any) => [content, left?.how ?? null]),
      [
        [seed, null],
        [better, null],
        [worse, "pruned"]
      ]
    )
    const { stdout } = await inspo(["show", shop], { cwd })
    assert.match(stdout, /^i1 +member +\d+\.\d % +100\.0 % +0\.[78]/mu)
  })

  it("is played again and exported", async () => {
    const replayed = await json("replay", shop)
    assert.deepStrictEqual([replayed.ok, replayed.difference, replayed.incumbent], [true, null, "i1"])
    const exported = await json("export", shop, "--out", "deploy")
    assert.strictEqual(await readFile(join(cwd, "deploy/instruction.txt"), "utf8"), `${better}\n`)
    assert.strictEqual(exported.instruction.id, "i1")
  })

  it("refuses what only runs have", async () => {
    for (const [args, part] of [
      [["show", "served", "--report", "html"], "without --report"],
      [["show", "served", "--lineage"], "Name one: served/populations/default, served/populations/shop"]
    ] as const)
      assertToldInOneParagraph(await inspo(args, { cwd }), 2, part)
  })
})
