import { Assets, Server } from "@inspo/dashboard"
import { Console, Effect, FileSystem, Layer } from "effect"
import { commandFailure, usageError } from "../Failure.ts"
import { type Address, admission, listen } from "../server/Listen.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Stored from "../serve/StoredPopulations.ts"
import * as Catalog from "./Catalog.ts"

export interface ServeInput extends Address {
  readonly directories: ReadonlyArray<string>
}

/** Serves the dashboard until it is interrupted. One line shows its address. */
export const serve = Effect.fn("Dashboard.serve")(function* (input: ServeInput) {
  const directories = input.directories.length === 0 ? ["runs"] : input.directories
  const url = yield* start({ ...input, directories })
  yield* Reporter.print({ url }, () => [`Dashboard of ${directories.join(", ")} at ${url}`])
  return yield* Effect.never
}, Effect.scoped)

/** Serves the dashboard while the scope lives, and returns its URL. */
export const start = Effect.fn("Dashboard.start")(function* (input: ServeInput) {
  const fs = yield* FileSystem.FileSystem
  const { directories } = input
  const missing = yield* Effect.findFirst(directories, (directory) =>
    Effect.map(
      Effect.orElseSucceed(fs.exists(directory), () => false),
      (exists) => !exists
    )
  )
  if (missing._tag === "Some")
    return yield* usageError(
      `There is no directory ${missing.value} to look for runs in. Check the path, or start a run first with ` +
        "`inspo run`."
    )
  for (const directory of directories)
    if ((yield* Stored.find(directory)).length > 0)
      return yield* usageError(
        `${directory} holds populations of an instruction server, which has its own page. Start it with ` +
          `\`inspo serve --out DIR\` on the server's directory and open its address, or read them with \`inspo show ${directory}\`.`
      )
  const password = yield* admission(input)
  yield* Assets.ensure(Console.error("Building the page of the dashboard, once …")).pipe(
    Effect.mapError((cause) => commandFailure(`${cause.message}.`, cause))
  )
  return yield* listen(
    "dashboard",
    input,
    Server.layer({ assets: Assets.folder, ...(password === undefined ? {} : { password }) }).pipe(
      Layer.provide(Catalog.layer(directories))
    ),
    { keys: password === undefined ? [] : [password] }
  )
})
