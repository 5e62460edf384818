/**
 * `pnpm release`: turns the pending changesets into versions and an entry of CHANGELOG.md, then builds and packs every published
 * package into a folder, with checksums and a bill of materials. `--registry` publishes what is committed; see docs/release.md.
 */
import { join, resolve } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Artifacts from "./Artifacts.ts"
import * as Registry from "./Registry.ts"
import { refusal } from "./Refusal.ts"
import { run } from "./run.ts"
import * as Wheel from "./Wheel.ts"
import * as Versions from "./Versions.ts"
import { UsageError } from "../../apps/cli/src/Failure.ts"

const root = join(import.meta.dirname, "../..")

Command.make(
  "release",
  {
    registry: Flag.String("registry").pipe(
      Flag.withDescription("The npm registry to publish into; without it nothing is published"),
      Flag.optional
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Rehearse: keep the versions, and publish into a registry on this machine only"),
      Flag.withDefault(false)
    ),
    out: Flag.String("out").pipe(
      Flag.withDescription("The folder for tarballs, checksums and the bill of materials"),
      Flag.withDefault("release")
    )
  },
  Effect.fnUntraced(function* ({ dryRun, out, registry: asked }) {
    const registry = Option.getOrUndefined(asked)
    const folder = resolve(root, out)
    const changes = yield* Effect.promise(() => Versions.pending(root))
    const edited = (yield* Effect.promise(() => run("git", ["status", "--porcelain"], root))) !== ""
    const problem = refusal({ registry, dryRun, pending: changes.length, edited })
    if (problem !== undefined) return yield* new UsageError({ problem })

    if (changes.length > 0 && !dryRun) {
      const version = yield* Effect.promise(() => Versions.apply(root, changes))
      yield* Console.log(`${version}: read the new entry of CHANGELOG.md, and commit`)
    }
    const artifacts = yield* Effect.promise(() => Artifacts.make(root, folder))
    yield* Console.log(`${artifacts.length} tarballs, their checksums and a bill of materials are in ${folder}`)
    yield* Console.log(`${yield* Effect.promise(() => Wheel.make(root, folder))} is the Python client`)
    if (registry !== undefined)
      for (const artifact of artifacts) {
        const outcome = yield* Effect.promise(() => Registry.publish(artifact, registry))
        yield* Console.log(`${artifact.name}@${artifact.version} ${outcome}`)
      }
  })
).pipe(
  Command.withDescription("Make a release of all published packages"),
  Command.withExamples([
    { command: "release", description: "Set the versions, write the changelog, and pack into the folder release" },
    { command: "release --registry URL", description: "Pack what is committed, and publish it" },
    { command: "release --dry-run --registry URL", description: "Rehearse with a registry on this machine" }
  ]),
  Command.run({ version: "0.0.0" }),
  Effect.tapErrorTag("UsageError", ({ message }) => Console.error(`release: ${message}`)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
