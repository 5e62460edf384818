/** The studies of inspo, from the repository: `npx pnpm@12 research`. */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { mainOf } from "../../../apps/cli/src/Cli.ts"
import { research } from "./Command.ts"

mainOf(research).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
