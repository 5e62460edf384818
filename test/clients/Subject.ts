/** The clients that the suite drives: in this process, and as a Python program. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Inspo, type Lease, type Problem } from "@inspo/client"
import { Schema } from "effect"
import { RealServer } from "./RealServer.ts"
import { ReferenceServer } from "./ReferenceServer.ts"

const Fields = Schema.Record(Schema.String, Schema.Json)

/** A call of a client. `lease` names the lease of an earlier call; durations are in milliseconds. */
export const Call = Schema.Struct({
  call: Schema.Literals([
    "new",
    "lease",
    "leases",
    "reward",
    "fail",
    "abandon",
    "report",
    "close",
    "rewind",
    "incumbent",
    "flush",
    "counts"
  ]),
  as: Schema.optionalKey(Schema.String),
  lease: Schema.optionalKey(Schema.String),
  value: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.Boolean, Schema.Literal("NaN")])),
  population: Schema.optionalKey(Schema.String),
  requests: Schema.optionalKey(Schema.Array(Fields)),
  with: Schema.optionalKey(Fields)
})
export type Call = typeof Call.Type

export const Outcome = Schema.Struct({
  /** What the call returned, or null; a lease as its fields. */
  returned: Schema.Json,
  /** The name of the error that it threw; `mistake` for invalid arguments. */
  thrown: Schema.NullOr(Schema.String),
  milliseconds: Schema.Finite,
  /** The kinds of problems that the client has reported so far. */
  problems: Schema.Array(Schema.String),
  /** The last of them. */
  problem: Schema.Json
})
export type Outcome = typeof Outcome.Type

/** A client that performs one call after the other. */
export interface Subject {
  readonly name: string
  readonly call: (call: Call) => Promise<Outcome>
  readonly end: () => Promise<void>
}

const text = Schema.decodeUnknownSync(Schema.String)
const json = Schema.decodeUnknownSync(Schema.Json)

export const typescript = (): Subject => {
  let inspo: Inspo | undefined
  const leases = new Map<string, Lease>()
  let problems: ReadonlyArray<Problem> = []

  const view = (lease: Lease) => ({
    leased: lease.leased,
    population: lease.population,
    key: lease.key,
    n: lease.n,
    id: lease.id,
    cohort: lease.cohort,
    instruction: lease.instruction,
    probability: lease.probability,
    replaces: lease.replaces,
    ...wording(lease)
  })

  const wording = (lease: Lease) => {
    try {
      return { text: lease.text }
    } catch {
      return { texts: lease.texts }
    }
  }

  // The suite is checked when it is read, and a call that does not fit its method fails there.
  const perform = async ({
    as = "",
    call,
    lease = "",
    population = "support",
    requests = [],
    value,
    with: given = {}
  }: Call) => {
    const options = given as Record<string, never>
    if (call === "new") {
      const own: Array<Problem> = []
      problems = own
      inspo = new Inspo({ urls: [], ...options, onProblem: (problem) => own.push(problem) })
      return null
    }
    if (inspo === undefined) throw new Error("no client was made")
    const one = leases.get(lease)
    switch (call) {
      case "lease": {
        const made = await inspo.lease(population, options)
        leases.set(as, made)
        return view(made)
      }
      case "leases": {
        const made = await inspo.leases(population, requests, options)
        for (const [index, lease] of made.entries()) leases.set(`${as}${index}`, lease)
        return made.map(view)
      }
      case "reward":
        // A comparison as a program without types sends it.
        // oxlint-disable-next-line typescript/unbound-method
        return one && Reflect.apply(one.reward, one, [value === "NaN" ? Number.NaN : (value ?? 0), options])
      case "fail":
        return one?.fail(options)
      case "abandon":
        return one?.abandon(options)
      case "report":
        return inspo.reward(population, { lease, ...(value === undefined ? {} : { value: Number(value) }), ...options })
      case "close":
        return inspo.close(population, text(given["cohort"]), options)
      case "rewind":
        return inspo.rewind(population, { to: text(given["to"]), requestId: text(given["requestId"]), ...options })
      case "incumbent":
        return inspo.incumbent(population, options)
      case "flush":
        return inspo.flush(options)
      case "counts":
        return inspo.counts
    }
  }

  return {
    name: "TypeScript",
    call: async (call) => {
      const began = performance.now()
      let returned: unknown = null
      let thrown: string | null = null
      try {
        returned = await perform(call)
      } catch (error) {
        thrown =
          error instanceof TypeError || error instanceof RangeError
            ? "mistake"
            : error instanceof Error
              ? error.name
              : String(error)
      }
      const milliseconds = performance.now() - began
      return {
        returned: json(JSON.parse(JSON.stringify(returned ?? null))),
        thrown,
        milliseconds,
        problems: problems.map(({ kind }) => kind),
        problem: json({ ...problems.at(-1) })
      }
    },
    end: async () => {}
  }
}

/** Has a client ask each server once without haste: what is slow the first time is no measure of a call. */
export const warm = async (subject: Subject): Promise<void> => {
  for (const server of [new ReferenceServer(), new RealServer({}, "online")]) {
    await server.start()
    await subject.call({ call: "new", with: { urls: [server.url] } })
    await subject.call({ call: "lease", as: "warm", with: { timeout: 10_000, fallback: "Be." } })
    await subject.call({ call: "reward", lease: "warm", value: 1 })
    await subject.call({ call: "flush" })
    await server.stop()
  }
}

const program = fileURLToPath(new URL("../../clients/python/tests/subject.py", import.meta.url))
const decodeOutcome = Schema.decodeUnknownSync(Schema.fromJsonString(Outcome))

/** Why nothing is tested with Python, or null where it is. */
export const noPython: string | null = (() => {
  if (process.env["INSPO_PYTHON"] === undefined) return "skipped: INSPO_PYTHON=1 tests with Python, too"
  try {
    execFileSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"], { stdio: "pipe" })
    return null
  } catch {
    return "skipped: there is no python3 of at least 3.10"
  }
})()

/** `kind` is `sync` or `asyncio`. */
export const python = (kind: "sync" | "asyncio"): Subject => {
  let child: ChildProcessWithoutNullStreams | undefined
  let lines: AsyncIterator<string> | undefined
  return {
    name: `Python, ${kind}`,
    call: async (call) => {
      if (child === undefined) {
        child = spawn("python3", [program, kind], { stdio: "pipe" })
        child.stderr.pipe(process.stderr)
        lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      }
      child.stdin.write(`${JSON.stringify(call)}\n`)
      const line = await lines?.next()
      if (line === undefined || line.done === true) throw new Error(`Python ended at ${JSON.stringify(call)}`)
      return decodeOutcome(line.value)
    },
    end: async () => {
      if (child === undefined) return
      child.stdin.end()
      if (child.exitCode === null) await once(child, "close")
    }
  }
}
