/** @module-tag deep */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Presets, type RunConfig } from "@inspo/config"
import { Effect } from "effect"
import { assertToldInOneParagraph, inspo, testTimeout, sets } from "../../../test/cli/Inspo.ts"
import { named } from "../src/McpTools.ts"
import type { Check } from "../src/preflight/Check.ts"
import * as Preflight from "../src/preflight/Preflight.ts"

const program = fileURLToPath(new URL("../../../packages/mcp/test/support/program.ts", import.meta.url))
const there = { command: [process.execPath, program] } as const

const calling = (tools: ReadonlyArray<string>, ...mcp: RunConfig["rollout"]["mcp"]): RunConfig => ({
  ...Presets.tiny,
  rollout: { ...Presets.tiny.rollout, tools, mcp }
})

describe("the tools of rollout.mcp", () => {
  it.live("are those that the agent may call", () =>
    Effect.map(named(calling(["search", "echo", "add-numbers"], there), 30), (tools) =>
      assert.sameMembers(
        tools.map(({ name }) => name),
        ["echo", "add-numbers"]
      )
    )
  )

  it.live("are looked for before a run begins, at each server by its name", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [RunConfig, Check["status"], RegExp]> = [
        [calling(["echo"], there), "ready", /^rollout\.mcp answers, and has echo$/u],
        [calling(["search"], there), "ready", /no tool that the agent calls/u],
        [calling(["abacus"], there), "failed", /"abacus", expected some of search, .*echo/u],
        [
          calling(["search"], { command: ["no-such-program"] }),
          "failed",
          /^rollout\.mcp: MCP server no-such-program: /u
        ],
        [calling(["search"], { url: "http://127.0.0.1:9/mcp" }), "failed", /http:\/\/127\.0\.0\.1:9\/mcp: it cannot/u]
      ]
      for (const [config, status, detail] of cases) {
        const [check] = yield* Preflight.look(config)
        assert.deepInclude(check, { part: "tools", status })
        assert.match(check?.detail ?? "", detail)
      }
    })
  )

  it(
    "are there while a run goes on, and their programs end with it",
    { timeout: testTimeout, tags: "runs" },
    async () => {
      const cwd = await mkdtemp(join(tmpdir(), "inspo-mcp-run-"))
      try {
        const shell = `echo $$ > pid; exec "${process.execPath}" "${program}"`
        const settings = (tool: string) =>
          sets(
            `rollout.mcp=${JSON.stringify([{ command: ["sh", "-c", shell] }])}`,
            `rollout.tools=["search", "${tool}"]`,
            `rollout.texts=${JSON.stringify({ ...Presets.tiny.rollout.texts, prompt: "{tools} {instruction} {question}" })}`
          )
        assertToldInOneParagraph(
          await inspo(["run", "--preset", "tiny", "--out", "no", ...settings("abacus")], { cwd }),
          2,
          "abacus"
        )
        const { code, stderr } = await inspo(["run", "--preset", "tiny", "--out", "yes", ...settings("echo")], { cwd })
        assert.strictEqual(code, 0, stderr)
        const pid = Number(await readFile(join(cwd, "pid"), "utf8"))
        assert.throws(() => process.kill(pid, 0), "ESRCH")
      } finally {
        await rm(cwd, { recursive: true, force: true })
      }
    }
  )
})
