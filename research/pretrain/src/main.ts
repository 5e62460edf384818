import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Logger } from "effect"
import { Command } from "effect/cli"
import { probe } from "./commands/probe.ts"
import { train } from "./commands/train.ts"

Command.make("pretrain").pipe(
  Command.withDescription("Train and measure the model of the embedded engine"),
  Command.withSubcommands([train, probe]),
  Command.run({ version: "0.0.0" }),
  Effect.provide([NodeServices.layer, Layer.succeed(Logger.LogToStderr, true)]),
  NodeRuntime.runMain
)
