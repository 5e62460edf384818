import { Limits } from "@inspo/serve"
import * as Registry from "@inspo/serve/Populations"
import * as Server from "@inspo/serve/Server"
import * as SqliteStore from "@inspo/serve/SqliteStore"
import { Console, Context, Effect, Layer, Option, Path, type Redacted } from "effect"
import * as Secret from "../config/Secret.ts"
import { CommandFailure, UsageError } from "../Failure.ts"
import { type Address, admission, listen } from "../server/Listen.ts"
import * as Declared from "./Declared.ts"

export interface ServeInput extends Address {
  readonly config: Option.Option<string>
  readonly leaseKeyEnv: Option.Option<string>
  readonly out: string
  readonly seedFile: ReadonlyArray<string>
  readonly json: boolean
}

/** Serves populations until it is interrupted; requests in flight are then answered. */
export const serve = Effect.fn("Serve.serve")(function* (input: ServeInput) {
  const keys = yield* keysOf(input)
  const declared = yield* Declared.read(input)
  const path = yield* Path.Path
  const store = SqliteStore.layer(path.join(input.out, "populations"))
  const populations = yield* Layer.build(Layer.provide(Registry.layer, store)).pipe(
    Effect.map(Context.get(Registry.Populations)),
    Effect.mapError((cause) => new CommandFailure({ problem: `${cause.message}.`, cause }))
  )
  yield* Declared.ensure(populations, declared)
  if ((yield* populations.list).length === 0) yield* Declared.ensure(populations, [unnamed])
  const routes = Server.layer(keys).pipe(Layer.provide(Layer.succeed(Registry.Populations, populations)))
  const url = yield* listen("instruction server", input, routes, {
    ownHealth: true,
    answer: Server.refuse,
    maxBodyBytes: Limits.bodyBytes
  })
  const names = (yield* populations.list).map(({ name }) => name)
  yield* Console.log(
    input.json ? JSON.stringify({ url, out: input.out, populations: names }) : ready(url, input.out, names).join("\n")
  )
  return yield* Effect.never
}, Effect.scoped)

/** What there is to begin with where nobody named anything. */
const unnamed: Declared.Declared = { name: "default", made: { seed: "You are a helpful assistant." } }

/** The admin's key, which a server that other machines can reach must have, and that of agents. */
const keysOf = Effect.fnUntraced(function* (input: ServeInput) {
  const admin = yield* admission(input)
  if (Option.isNone(input.leaseKeyEnv)) return admin === undefined ? {} : { admin }
  if (admin === undefined)
    return yield* new UsageError({
      problem: "--lease-key-env names a key beside the admin's. Name that one with --api-key-env, too."
    })
  const lease: Redacted.Redacted = yield* Secret.fromEnvironment(
    input.leaseKeyEnv.value,
    "--lease-key-env",
    "the key that agents and trainers bring",
    (problem) => new UsageError({ problem: `${problem}.` })
  )
  return { admin, lease }
})

/** Where it is, and the lines that a client needs. */
const ready = (url: string, out: string, names: ReadonlyArray<string>): ReadonlyArray<string> => [
  `${names.join(", ")} at ${url}, kept in ${out}. In your agent, with @inspo/client:`,
  "",
  `  const inspo = new Inspo({ urls: ["${url}"] })`,
  `  const lease = await inspo.lease("${names[0] ?? ""}") // lease.text is the instruction`,
  "  await lease.reward(1) // how well it went, from 0 to 1",
  ""
]
