/** Whether the user allows what the config of a run directory names; the answer is stored for this user, outside the directory. */
import { createHash } from "node:crypto"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import type { RunConfig } from "@inspo/config"
import { PlainText } from "@inspo/domain"
import { Config, Console, Effect, FileSystem, Option, Schema } from "effect"
import { Prompt } from "effect/cli"
import { systemWords, usageError } from "../Failure.ts"
import { type Permission, permission, permissionsOf, type Use } from "./Permissions.ts"
import { TrustFlag } from "../commands/handler.ts"

/** Fails with exit code 2 unless the user consents to what a directory's config names. Asks on a terminal. */
export const ensure = Effect.fn("Trust.ensure")(function* (directory: string, config: RunConfig, use: Use) {
  const open = yield* unknown(directory, config, use)
  if (open.length > 0) yield* settle(directory, open, (yield* TrustFlag) || (yield* ask(directory, open)))
})

/** The same without asking, for example for a page that refreshes by itself. */
export const ensureUnasked = Effect.fn("Trust.ensureUnasked")(function* (
  directory: string,
  config: RunConfig,
  use: Use
) {
  const open = yield* unknown(directory, config, use)
  if (open.length > 0) yield* settle(directory, open, yield* TrustFlag)
})

/** The same for a config with settings of the command line: what the directory itself names needs consent, what the user adds does not. */
export const ensureChanged = Effect.fn("Trust.ensureChanged")(function* (
  directory: string,
  { after, before, use }: { readonly before: RunConfig; readonly after: RunConfig; readonly use: Use }
) {
  const open = yield* unknown(directory, before, use)
  yield* open.length === 0 ? store(directory, yield* all(directory, after, use)) : ensure(directory, after, use)
})

export const remember = Effect.fn("Trust.remember")(function* (directory: string, config: RunConfig) {
  yield* store(directory, yield* all(directory, config, "run"))
})

const settle = (directory: string, open: ReadonlyArray<Permission>, consents: boolean) =>
  consents
    ? store(directory, open)
    : Effect.fail(
        usageError(
          `${directory} was not created here by this user, and it would ${open.map(({ says }) => says).join("; ")}. ` +
            "Nothing of this was done. Check its config.json, then give --trust to allow exactly this."
        )
      )

/** Adds to what the user consented to; prints a note if that cannot be written. */
const store = Effect.fnUntraced(function* (directory: string, permissions: ReadonlyArray<Permission>) {
  if (permissions.length === 0) return
  const fs = yield* FileSystem.FileSystem
  const place = yield* placeOf(directory)
  const known = yield* recall(place.file)
  const added = permissions.filter(({ id }) => !known.has(id))
  if (added.length === 0) return
  const memory = { directory: place.directory, acts: [...known, ...added.map(({ id }) => id)] }
  yield* Effect.gen(function* () {
    yield* fs.makeDirectory(place.folder, { recursive: true, mode: 0o700 })
    const beside = yield* fs.makeTempFileScoped({ directory: place.folder })
    yield* fs.writeFileString(beside, `${JSON.stringify(memory)}\n`)
    yield* fs.rename(beside, place.file)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("PlatformError", (cause) =>
      Console.error(
        `Note: ${place.file} cannot be written (${systemWords(cause)}), so later commands on ${directory} need --trust.`
      )
    )
  )
})

const unknown = Effect.fnUntraced(function* (directory: string, config: RunConfig, use: Use) {
  const permissions = yield* all(directory, config, use)
  if (permissions.length === 0) return permissions
  const known = yield* recall((yield* placeOf(directory)).file)
  return permissions.filter(({ id }) => !known.has(id))
})

/** What the config names, and where a run would write through links. */
const all = Effect.fnUntraced(function* (directory: string, config: RunConfig, use: Use) {
  return [...permissionsOf(config, use), ...(use === "run" ? yield* links(directory) : [])]
})

/** Links in a directory: through them a run writes files elsewhere. */
const links = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const entries = (folder: string) =>
    Effect.map(
      Effect.orElseSucceed(fs.readDirectory(folder), () => []),
      (names) => names.map((name) => join(folder, name))
    )
  const inside = yield* Effect.forEach(["", "checkpoints", "baseline", join("baseline", "checkpoints")], (part) =>
    entries(join(directory, part))
  )
  const found = yield* Effect.forEach(inside.flat(), (entry) =>
    Effect.match(fs.readLink(entry), {
      onFailure: () => [],
      onSuccess: (target) => [permission(`write through the link ${entry} to ${target}`, "link", entry, target)]
    })
  )
  return found.flat()
})

const Memory = Schema.fromJsonString(Schema.Struct({ directory: Schema.String, acts: Schema.Array(Schema.String) }))

/** What the user consented to before; a file that cannot be read counts as empty, so the question is asked again. */
const recall = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const memory = yield* Effect.option(Effect.flatMap(fs.readFileString(file), Schema.decodeEffect(Memory)))
  return new Set(Option.match(memory, { onNone: () => [], onSome: ({ acts }) => acts }))
})

/** Where the answers about a directory are stored, by its path without links. */
const placeOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const canonical = yield* Effect.orElseSucceed(fs.realPath(directory), () => resolve(directory))
  const state = yield* Effect.orDie(Config.withDefault(Config.String("XDG_STATE_HOME"), ""))
  const folder = join(state === "" ? join(homedir(), ".local", "state") : state, "inspo", "trusted")
  const name = createHash("sha256").update(canonical).digest("hex")
  return { directory: canonical, folder, file: join(folder, `${name}.json`) }
})

/** Only a person at a terminal can be asked. */
const ask = (directory: string, open: ReadonlyArray<Permission>) =>
  process.stdin.isTTY && process.stdout.isTTY
    ? Prompt.run(
        Prompt.Confirm({
          message: PlainText.escape(
            `${directory} was not created here by this user. It would ${open.map(({ says }) => says).join("; ")}. Allow this?`
          )
        })
      ).pipe(Effect.orElseSucceed(() => false))
    : Effect.succeed(false)
