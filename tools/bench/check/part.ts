/** Measures one part in a separate process and prints its figures as a line of JSON: `part.ts NAME`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Schema, type Scope } from "effect"
import { Argument, Command } from "effect/cli"
import { Figure } from "./Comparison.ts"
import { type Name, names } from "./Parts.ts"

interface Part {
  readonly figures: Effect.Effect<
    ReadonlyArray<Figure>,
    { readonly message: string },
    NodeServices.NodeServices | Scope.Scope
  >
}

/** Loads only the measured part, since the others would use memory. */
const parts: Readonly<Record<Name, () => Promise<Part>>> = {
  core: () => import("./parts/Core.ts"),
  engine: () => import("./parts/Engine.ts"),
  rollout: () => import("./parts/Rollout.ts"),
  retrieval: () => import("./parts/Retrieval.ts"),
  journal: () => import("./parts/Journal.ts"),
  serve: () => import("./parts/Serve.ts"),
  evolve: () => import("./parts/Evolve.ts"),
  dashboard: () => import("./parts/Dashboard.ts")
}

Command.make("part", { name: Argument.Literals("name", names) }, ({ name }) =>
  Effect.promise(parts[name]).pipe(
    Effect.flatMap(({ figures }) => figures),
    Effect.flatMap(Schema.encodeEffect(Schema.fromJsonString(Schema.Array(Figure)))),
    Effect.flatMap(Console.log),
    Effect.scoped
  )
).pipe(Command.run({ version: "0.0.0" }), Effect.provide(NodeServices.layer), NodeRuntime.runMain)
