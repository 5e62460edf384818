/** @module-tag deep */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { OutsideAgent, ProgramAgent } from "@inspo/outside"
import { Duration, Effect, Fiber } from "effect"
import * as fc from "fast-check"

const program = fileURLToPath(new URL("support/Faulty.ts", import.meta.url))

let directory = ""
let files = 0
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-outside-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Asks calls of the kinds all at once, and gives outputs or reasons, the log, and what the program was asked. */
const asked = Effect.fnUntraced(function* (
  kinds: ReadonlyArray<string>,
  { child = false, timeout = 20_000, workers = 1 }: { child?: boolean; timeout?: number; workers?: number } = {}
) {
  const file = join(directory, `${(files += 1)}`)
  let log = ""
  const found = yield* Effect.gen(function* () {
    const agent = yield* ProgramAgent.make({
      command: [process.execPath, program, file, ...(child ? ["child"] : [])],
      workers,
      timeout,
      log: (text) => Effect.sync(() => void (log += text))
    })
    const ask = (kind: string, index: number) =>
      agent.ask({ id: `${index}`, prompt: "P", case: { do: kind, name: index }, attempt: 0 }).pipe(
        Effect.match({
          onFailure: ({ message }) => message,
          onSuccess: ({ output }) => JSON.stringify(output).slice(1, -1)
        })
      )
    return yield* Effect.forEach(kinds, ask, { concurrency: "unbounded" })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  const lines = (yield* Effect.promise(() => readFile(file, "utf8").catch(() => ""))).split("\n").filter(Boolean)
  return { found, log, lines }
})

const remedies: Readonly<Record<string, RegExp>> = {
  crash: /ended with exit code 1 before it answered: Error: a crash$/u,
  hang: /gave no answer for 1s 500ms; answer each line that is read, and flush$/u,
  "wrong-id": /answered the id "nobody's", and no call has it; give each answer the id of its call$/u,
  "no-json": /wrote a line that is no JSON, .*; expected \{"id", "output"/u,
  "no-id": /answered the id "none", and no call has it; give each answer the id of its call$/u,
  huge: /wrote a line of more than 8,000,000 characters; shorten its outputs$/u,
  "bad-score": /"score\\":7.*; expected \{"id", "output", "score"\?: 0 to 1/u,
  error: /reports: no key$/u
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("an agent that is a program", { timeout: 120_000 }, () => {
  it.live("answers each call with its own output, many in flight, in one process or in several", () =>
    Effect.gen(function* () {
      const kinds = Array.from({ length: 200 }, (_, index) => (index % 3 === 0 ? "slow" : "answer"))
      for (const workers of [1, 3]) {
        const began = performance.now()
        const { found, lines } = yield* asked(kinds, { workers })
        assert.deepStrictEqual(
          found,
          kinds.map((_, index) => `P ${index}`)
        )
        assert.lengthOf(lines, kinds.length)
        assert.isBelow(performance.now() - began, 67 * 100)
      }
    })
  )

  it.live.each(Object.entries(remedies))(
    "loses the one call that breaks it, and names a remedy: %s",
    ([kind, remedy]) =>
      Effect.gen(function* () {
        const kinds = ["answer", "slow", "slow", kind, "slow", "answer"]
        const { found } = yield* asked(kinds, { timeout: kind === "hang" ? 1500 : 20_000 })
        assert.deepStrictEqual(
          found.filter((_, index) => index !== 3),
          [0, 1, 2, 4, 5].map((index) => `P ${index}`)
        )
        assert.match(found[3] ?? "", remedy)
      })
  )

  it.live("shows no secret of the environment, whatever the program says", () =>
    Effect.gen(function* () {
      process.env["INSPO_TEST_API_KEY"] = ": a crash"
      const { found } = yield* asked(["crash"])
      assert.match(found[0] ?? "", /before it answered: ErrorREDACTED$/u)
      const { reason } = OutsideAgent.failed("agent", "reports: a crash")
      assert.strictEqual(reason, "reportsREDACTED")
    }).pipe(Effect.ensuring(Effect.sync(() => delete process.env["INSPO_TEST_API_KEY"])))
  )

  it.live("takes the first of two answers, and keeps what is no answer as its log", () =>
    Effect.gen(function* () {
      const { found, log } = yield* asked(["twice", "noise", "answer"])
      assert.deepStrictEqual(found, ["P 0", "P 1", "P 2"])
      for (const part of ["loading …\n", '{"level": "info"}\n', "to standard error\n", "the second"])
        assert.include(log, part)
    })
  )

  it.live("loses what fails by itself and nothing else, in any order", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.constantFrom("answer", "slow", "noise", "twice", "crash", "wrong-id", "no-json", "bad-score", "error"),
            {
              minLength: 1,
              maxLength: 8
            }
          ),
          fc.integer({ min: 1, max: 3 }),
          async (kinds, workers) => {
            const { found } = await Effect.runPromise(asked(kinds, { workers }))
            for (const [index, kind] of kinds.entries()) {
              const remedy = remedies[kind]
              if (remedy === undefined) assert.strictEqual(found[index], `P ${index}`)
              else assert.match(found[index] ?? "", remedy)
            }
          }
        ),
        { numRuns: 6 }
      )
    )
  )

  it.live("ends with its children", () =>
    Effect.gen(function* () {
      for (const kinds of [["answer"], ["crash", "answer"]]) {
        const { lines } = yield* asked(kinds, { child: true })
        const pids = lines.flatMap((line) => (line.startsWith("child ") ? [Number(line.slice(6))] : []))
        assert.isNotEmpty(pids)
        yield* Effect.sleep("200 millis")
        for (const pid of pids) assert.isFalse(isAlive(pid), `${pid}`)
      }
    })
  )

  it.live("gives up a call that nobody waits for, and takes no late answer for another one", () =>
    Effect.gen(function* () {
      const file = join(directory, "late")
      const agent = yield* ProgramAgent.make({
        command: [process.execPath, program, file],
        workers: 1,
        timeout: 20_000,
        log: () => Effect.void
      })
      const call = (id: string, kind: string) =>
        agent.ask({ id, prompt: id, case: { do: kind, name: "x" }, attempt: 0 })
      yield* call("0", "answer")
      const slow = yield* Effect.forkChild(call("1", "slow"))
      yield* Effect.sleep(Duration.millis(20))
      yield* Fiber.interrupt(slow)
      assert.strictEqual((yield* call("2", "slow")).output, "2 x")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("says so when it cannot be started", () =>
    Effect.gen(function* () {
      const agent = yield* ProgramAgent.make({
        command: ["no-such-program"],
        workers: 1,
        timeout: 1000,
        log: () => Effect.void
      })
      const failure = yield* Effect.flip(agent.ask({ id: "0", prompt: "", case: null, attempt: 0 }))
      assert.include(failure.message, "no-such-program cannot be run: ")
      assert.strictEqual(failure.status, 404)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
