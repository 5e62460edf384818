import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, type Schema, Scope } from "effect"
import * as fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Journal, type StoredEvent } from "../src/index.ts"
import { layer, type Mode } from "../src/sqlite.ts"
import { read, refused } from "./fixtures/files.ts"

/** What a journal should hold, as plain arrays. */
interface Model {
  readonly events: Array<{ type: string; step: number; payload: Schema.Json }>
  readonly records: Map<string, { step: number; value: Schema.Json }>
  tokens: number
}

/** The journal under test, reopened in place. */
class Real {
  readonly file: string
  #scope = Scope.makeUnsafe()
  #journal: Journal["Service"] | undefined
  constructor(file: string) {
    this.file = file
  }
  async open(mode: Mode) {
    this.#scope = Scope.makeUnsafe()
    const context = await Effect.runPromise(Layer.buildWithScope(layer({ file: this.file, mode }), this.#scope))
    this.#journal = Context.get(context, Journal)
  }
  async close() {
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }
  run<A, E>(f: (journal: Journal["Service"]) => Effect.Effect<A, E>): Promise<A> {
    if (this.#journal === undefined) throw new Error("the journal is closed")
    return Effect.runPromise(f(this.#journal))
  }
}

const command = (name: string, run: (model: Model, real: Real) => Promise<void>): fc.AsyncCommand<Model, Real> => ({
  check: () => true,
  run,
  toString: () => name
})

const json: fc.Arbitrary<Schema.Json> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))
const step = fc.nat(2)
const event = fc.record({ type: fc.constantFrom("a", "b"), step, payload: json })
const checkEvents = (model: Model, events: ReadonlyArray<StoredEvent>) =>
  assert.deepEqual(
    events,
    model.events.map((event, sequence) => ({ sequence, ...event }))
  )

const commands = [
  fc.array(event, { maxLength: 4 }).map((events) =>
    command(`append ${JSON.stringify(events)}`, async (model, real) => {
      await real.run((journal) => journal.append(events))
      model.events.push(...events)
    })
  ),
  fc
    .tuple(step, fc.array(fc.record({ key: fc.constantFrom("k1", "k2", "k3"), value: json }), { maxLength: 4 }))
    .map(([step, rows]) =>
      command(`put ${step} ${JSON.stringify(rows)}`, async (model, real) => {
        await real.run((journal) => journal.putRecords("sample", step, rows))
        for (const { key, value } of rows) if (!model.records.has(key)) model.records.set(key, { step, value })
      })
    ),
  fc.oneof(fc.record({ before: step }), fc.record({ prefixes: fc.subarray(["k1", "k2", "k"]) })).map((which) =>
    command(`delete ${JSON.stringify(which)}`, async (model, real) => {
      await real.run((journal) => journal.deleteRecords(["sample", "another"], which))
      for (const [key, { step }] of model.records)
        if ("before" in which ? step < which.before : which.prefixes.some((prefix) => key.startsWith(prefix)))
          model.records.delete(key)
    })
  ),
  fc.nat(100).map((tokens) =>
    command(`charge ${tokens}`, async (model, real) => {
      const entry = { phase: "p", rollouts: 0, tokens, calls: 0, usd: 0, seconds: 0, redone: false }
      await real.run((journal) => journal.charge(entry))
      model.tokens += tokens
    })
  ),
  fc.constant(command("read", async (model, real) => checkEvents(model, await real.run((journal) => journal.read)))),
  fc.constant(
    command("list", async (model, real) =>
      assert.deepEqual(
        await real.run((journal) => journal.listRecords("sample")),
        [...model.records]
          .map(([key, { step, value }]) => ({ key, step, value }))
          .sort((a, b) => a.step - b.step || (a.key < b.key ? -1 : 1))
      )
    )
  ),
  fc.constant(
    command("ledger", async (model, real) => {
      const [total] = await real.run((journal) => journal.ledger)
      assert.strictEqual(total?.tokens ?? 0, model.tokens)
    })
  ),
  fc.constant(
    command("reopen", async (model, real) => {
      await real.close()
      await real.open("open")
      checkEvents(model, await real.run((journal) => journal.read))
    })
  ),
  fc.constant(
    command("second writer", async (_, real) => {
      const error = await Effect.runPromise(refused(real.file, "open"))
      assert.strictEqual(error.reason, "locked")
    })
  ),
  fc.constant(command("reader", async (model, real) => checkEvents(model, await Effect.runPromise(read(real.file)))))
]

it("a journal file agrees with plain arrays under any sequence of operations", { timeout: 30_000 }, () =>
  fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (sequence) => {
      const path = mkdtempSync(join(tmpdir(), "inspo-journal-"))
      const real = new Real(join(path, "journal.sqlite"))
      await real.open("create")
      try {
        await fc.asyncModelRun(() => ({ model: { events: [], records: new Map(), tokens: 0 }, real }), sequence)
      } finally {
        await real.close()
        rmSync(path, { recursive: true })
      }
    }),
    { numRuns: 30 }
  )
)
