/** Prints the history of a run: `node read-a-journal/main.ts runs/quick-seed1`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { layer } from "@inspo/journal/sqlite"
import { Console, Effect } from "effect"
import { join } from "node:path"
import { story } from "./ReadAJournal.ts"

const [, , directory = "runs/quick-seed1"] = process.argv

const program = Effect.gen(function* () {
  for (const line of yield* story) yield* Console.log(line)
})

// `read-only` takes no lock, so that a run can continue to write.
NodeRuntime.runMain(program.pipe(Effect.provide(layer({ file: join(directory, "journal.sqlite"), mode: "read-only" }))))
