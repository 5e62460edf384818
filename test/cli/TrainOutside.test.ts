/** @module-tag runs */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Report } from "../../apps/cli/src/eval/Report.ts"
import { freePort } from "./FreePort.ts"
import { assertToldInOneParagraph, endAll, inspo, sets, start, testTimeout } from "./Inspo.ts"
import { hasPython, presetOf, retrieverOf, tracesOf, writePrograms } from "./TrainedAgent.ts"

let cwd = ""
let agent = ""
let retriever = ""
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-train-outside-"))
  await writePrograms(cwd)
  retriever = await retrieverOf(cwd, "tiny")
  agent = `python3 search_agent.py ${retriever}`
  const whole = await inspo(flags("whole"), { cwd })
  assert.strictEqual(whole.code, 0, whole.stderr)
}, 2 * testTimeout)
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** How often the run is killed with its gateway: once a step. */
const kills = Number(process.env["INSPO_KILLS"] ?? "3")
const steps = kills + 1
const tiny = presetOf("tiny")
const flags = (out: string, ...settings: ReadonlyArray<string>) => [
  "run",
  "--no-baseline",
  "--out",
  out,
  "--agent",
  agent,
  ...tiny,
  ...sets(`schedule.steps=${steps}`, "evaluation.questions=20", ...settings)
]
const traces = (out: string) => tracesOf(cwd, out)

/** A worker that is started again whenever it ends, as containers are. */
const working = (gateway: string) => {
  let isOver = false
  let child: ChildProcess | null = null
  const begin = () => {
    child = spawn("python3", ["worker.py", retriever, gateway], { cwd, stdio: "ignore" })
    child.on("close", () => {
      if (!isOver) setTimeout(begin, 100)
    })
  }
  begin()
  const kill = () => child?.kill("SIGKILL")
  const end = () => {
    isOver = true
    kill()
  }
  return { kill, end }
}

/** The program of the page, which once each leaves a stream, ends, is killed, answers twice, writes 100 MB, writes no JSON, and hangs. */
const faulty = `
import json, os, socket, sys
from urllib.parse import urlsplit
from concurrent.futures import ThreadPoolExecutor
from search_agent import play, writing

def is_first(kind):
    try:
        os.close(os.open(kind + ".done", os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False

def leave_stream(call):
    url = urlsplit(call["baseUrl"])
    body = json.dumps({"messages": [{"role": "user", "content": call["prompt"]}], "stream": True})
    head = f"POST {url.path}/chat/completions HTTP/1.1\\r\\nhost: {url.netloc}\\r\\ncontent-type: application/json\\r\\n"
    with socket.create_connection((url.hostname, url.port)) as connection:
        connection.sendall(f"{head}content-length: {len(body)}\\r\\n\\r\\n{body}".encode())
        connection.recv(20)
    os._exit(1)

def answer(line):
    call = json.loads(line)
    if call["attempt"] == 0 and is_first("leave-stream"):
        leave_stream(call)
    reply = json.dumps({"id": call["id"], "output": play(call)})
    with writing:
        kinds = ["twice", "flood", "end", "kill", "no-json", "hang"]
        kind = next((kind for kind in kinds if is_first(kind)), "none") if call["attempt"] == 0 else "none"
        if kind == "end":
            os._exit(1)
        if kind == "kill":
            os.kill(os.getpid(), 9)
        if kind == "flood":
            for _ in range(100):
                print(("x" * 999 + "\\n") * 1000, end="", flush=True)
        if kind == "no-json":
            reply = reply[:-1]
        if kind == "twice":
            print(reply, flush=True)
        if kind != "hang":
            print(reply, flush=True)

with ThreadPoolExecutor(64) as pool:
    list(pool.map(answer, sys.stdin))
`
const decodeReport = Schema.decodeSync(Schema.fromJsonString(Report))
const decodeTrace = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ finishReason: Schema.String, toolCalls: Schema.Int, reward: Schema.Finite }))
)

describe.skipIf(!hasPython)(`inspo run --agent ${hasPython ? "" : "(skipped without python3)"}`, () => {
  it(
    "trains the program of the page, and a killed run continues to the same rollouts",
    { timeout: testTimeout },
    async () => {
      const rollouts = (await traces("whole")).map((line) => decodeTrace(line))
      assert.isEmpty(rollouts.filter(({ finishReason }) => finishReason === "failed"))
      assert.isAbove(rollouts.filter(({ toolCalls }) => toolCalls > 0).length, rollouts.length / 10)
      assert.isAbove(rollouts.filter(({ reward }) => reward > 0).length, 0)

      const child = start(flags("killed"), cwd)
      let shown = ""
      child.stdout.on("data", (chunk: Buffer) => {
        shown += chunk.toString()
        if (shown.includes(`step 2/${steps}`)) child.kill("SIGKILL")
      })
      await once(child, "close")
      const resumed = await inspo(["resume", "killed"], { cwd })
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      assert.deepStrictEqual(await traces("killed"), await traces("whole"))
    }
  )

  it("a program that breaks in each way gives the same rollouts", { timeout: 2 * testTimeout }, async () => {
    await writeFile(join(cwd, "faulty.py"), faulty)
    const whole = agent
    agent = `python3 faulty.py ${retriever}`
    const finished = await inspo(flags("faulty", "rollout.agent.timeout=20"), { cwd })
    agent = whole
    assert.strictEqual(finished.code, 0, finished.stderr)
    assert.deepStrictEqual(await traces("faulty"), await traces("whole"))
    const met = (await readdir(cwd)).filter((name) => name.endsWith(".done"))
    assert.lengthOf(met, 7)
    assert.isBelow((await stat(join(cwd, "faulty/agent.log"))).size, 11_000_000)
  })

  it(
    "workers elsewhere give the same rollouts, whatever is killed while they play",
    { timeout: kills * testTimeout },
    async () => {
      const port = await freePort()
      const workers = Array.from({ length: 3 }, () => working(`http://127.0.0.1:${port}`))
      agent = `:${port}`
      let command = flags("workers", "rollout.agent.timeout=20")
      for (let step = 1; step <= kills; step++) {
        const child = start(command, cwd)
        let shown = ""
        child.stdout.on("data", (chunk: Buffer) => {
          shown += chunk.toString()
          if (!shown.includes(`step ${step}/${steps}`)) return
          workers[step % 3]?.kill()
          child.kill("SIGKILL")
        })
        await once(child, "close")
        command = ["resume", "workers"]
      }
      const resumed = await inspo(command, { cwd })
      for (const { end } of workers) end()
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      assert.deepStrictEqual(await traces("workers"), await traces("whole"))
    }
  )

  it("evaluates an agent outside beside one of inspo, on the same questions", { timeout: testTimeout }, async () => {
    const program = `python3 search_agent.py ${retriever}`
    const args = ["eval", "whole", "--agent", program, "--against-agent", "search-r1"]
    const planned = await inspo([...args, "--plan", "--json"], { cwd })
    assert.strictEqual(planned.code, 0, planned.stderr)
    assert.deepStrictEqual(
      JSON.parse(planned.stdout).sides.map(({ would }: { readonly would: unknown }) => would),
      [[`ask the agent ${program} (rollout.agent.program)`], []]
    )
    const finished = await inspo([...args, "--questions", "20", "--resamples", "100", "--json"], { cwd })
    assert.strictEqual(finished.code, 0, finished.stderr)
    const report = decodeReport(finished.stdout)
    assert.deepStrictEqual([report.agent, report.against?.agent], ["outside", "search-r1"])
    assert.strictEqual(report.against?.comparison?.n, 20)
    assert.isAbove(report.toolCalls ?? 0, 0.1)
  })

  it("asks for consent, and says why an agent cannot be used", { timeout: testTimeout }, async () => {
    const elsewhere = { XDG_STATE_HOME: join(cwd, "state") }
    const untrusted = await inspo(["eval", "whole", "--questions", "1"], { cwd, env: elsewhere })
    assertToldInOneParagraph(untrusted, 2, "ask the agent python3 search_agent.py")
    const misspelt = await inspo(["eval", "whole", "--agent", "serch-r1"], { cwd })
    assertToldInOneParagraph(misspelt, 2, "Did you mean search-r1?")
    const silent = await inspo(["eval", "whole", "--agent", "true", "--questions", "2"], { cwd })
    assertToldInOneParagraph(silent, 1, "All 2 trajectories of whole failed, the first one because true ended with")
    agent = "./no-such-program"
    const missing = await inspo(flags("missing"), { cwd })
    assert.strictEqual(missing.code, 1)
    assert.include(missing.stderr, "./no-such-program")
  })
})
