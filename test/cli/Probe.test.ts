import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ClauseBank } from "@inspo/reflection"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Probe } from "../../apps/cli/src/report/ProbeReport.ts"
import { assertToldInOneParagraph, endAll, inspo, sets, testTimeout } from "./Inspo.ts"

let cwd = ""
const decode = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ probe: Probe })))
const Row = Schema.Struct({ id: Schema.String, data_source: Schema.String, question: Schema.String })
const decodeRow = Schema.decodeSync(Schema.fromJsonString(Row))

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-probe-"))
  const { code, stderr } = await inspo(["data", "world", "--seed", "7", "--out", "world"], { cwd })
  assert.strictEqual(code, 0, stderr)
  const lines = (await readFile(join(cwd, "world/questions.jsonl"), "utf8")).trim().split("\n")
  for (const source of ["world-1hop", "world-3hop"])
    await writeFile(
      join(cwd, `${source}.jsonl`),
      lines.filter((line) => decodeRow(line).data_source === source).join("\n")
    )
}, testTimeout)

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const seed = ClauseBank.seedInstruction
const useful =
  `${seed} Look up every fact with a search. Search for one entity at a time. After every search, state the fact you found. ` +
  "Answer with the name only."

/** Runs of 320 rollouts with the policy that is shipped. */
const settings = (...more: ReadonlyArray<string>) =>
  sets(
    "randomSeed=3",
    "data.corpus=world/corpus.jsonl",
    "data.questions=world-1hop.jsonl",
    "rollout.groupSize=4",
    "train.batchSize=4",
    "train.miniBatch.size=4",
    "schedule.steps=20",
    "schedule.evolveUntil=10",
    "population.size=2",
    ...more
  )

const named = (instruction: string, variant: string) => [
  `seedInstruction=${JSON.stringify(instruction)}`,
  `variants=${JSON.stringify([variant])}`
]

/** Three hops from memory: no reward, but many under the other instruction. */
const nothing = ["data.questions=world-3hop.jsonl", ...named(`${seed} Answer at once from memory.`, useful)]

describe("a probe", { timeout: testTimeout, tags: "runs" }, () => {
  it.each([
    ["evolve-first", "near nothing", [0, 0.02], nothing],
    ["evolve-along", "in the middle", [0.15, 0.5], named(seed, useful)],
    ["train-plainly", "high", [0.6, 1], named(useful, `${useful} Be polite and helpful.`)],
    [
      "no-start",
      "nothing, and so are the others",
      [0, 0.02],
      [
        "data.questions=world-3hop.jsonl",
        ...named(`${seed} Answer at once from memory.`, `${seed} Answer at once from memory. Be polite and helpful.`)
      ]
    ],
    [
      "evolve",
      "in the middle, and the policy does not train",
      [0.15, 0.5],
      ["train.fromStep=null", ...named(seed, useful)]
    ]
  ] as const)("says %s where the rewards of the seed are %s", async (verdict, _, [least, most], more) => {
    const { code, stderr, stdout } = await inspo(["plan", "--probe", "640", "--json", ...settings(...more)], { cwd })
    assert.strictEqual(code, 0, stderr)
    const { probe } = decode(stdout)
    const [first] = probe.instructions
    assert.isTrue(first !== undefined && least <= first.reward.share && first.reward.share <= most, stdout)
    assert.strictEqual(probe.verdict, verdict, stdout)
    assert.strictEqual(probe.rolloutsNeeded, 0)
    assert.isAtMost(probe.rollouts, 640)
  })

  it("tries the clauses of a run that names no variants, twice the same, and leaves nothing behind", async () => {
    const before = await readdir(cwd)
    const args = ["plan", "--probe", "80", "--json", ...settings("population.size=4")]
    const [once, twice] = [await inspo(args, { cwd }), await inspo(args, { cwd })]
    assert.strictEqual(once.code, 0, once.stderr)
    assert.strictEqual(once.stdout, twice.stdout)
    assert.include(once.stderr, "Probing with at most 80 rollouts")
    const { probe } = decode(once.stdout)
    assert.strictEqual(probe.verdict, "undecided")
    const texts = probe.instructions.map(({ text }) => text)
    const bank = ClauseBank.clauses.flatMap((clause) => clause.texts.map((text) => `${seed} ${text}`))
    assert.strictEqual(texts.shift(), seed)
    assert.lengthOf(texts, 3)
    assert.includeMembers(bank, texts)
    assert.deepStrictEqual(await readdir(cwd), before)
  })

  it("reads as lines of at most 80 characters, the cost before what it found", async () => {
    const { code, stdout } = await inspo(["plan", "--probe", "64", ...settings(...nothing)], { cwd })
    assert.strictEqual(code, 0)
    assert.isBelow(
      stdout.indexOf("Probing with at most 64 rollouts"),
      stdout.indexOf("Undecided: evolve-first or evolve-along.")
    )
    assert.match(stdout.replaceAll(/\s+/gu, " "), /About \d+ more rollouts would decide/u)
    for (const line of stdout.split("\n")) assert.isAtMost(line.length, 80, line)
  })

  it.each([
    ["too few rollouts", ["--probe", "31"], 2, "--probe is 31, expected at least 32 rollouts"],
    ["demonstrations", ["--probe", "80", ...sets("control.demonstrations=searches")], 2, "Set it to null"],
    ["a budget", ["--probe", "80", ...sets("budget.rollouts=50")], 1, "budget.rollouts, which is 50"]
  ])("tells of %s in one paragraph", async (_, args, code, part) => {
    const finished = await inspo(["plan", "--json", ...settings(), ...args], { cwd })
    assert.strictEqual(finished.code, code, finished.stderr)
    assert.include(finished.stderr.replaceAll(/\s+/gu, " "), part)
    assert.strictEqual(finished.stdout, "")
    if (code === 2) assertToldInOneParagraph(finished, code, part)
  })
})
