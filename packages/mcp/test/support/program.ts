/** A program that is a server of MCP over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Effect, Layer } from "effect"
import { McpProtocol, McpServer } from "effect/ai"
import * as Tools from "./tools.ts"

const server = McpServer.layerStdio({
  name: "tools of a test",
  version: "1",
  protocols:
    process.env["INSPO_TEST_MCP"] === "old"
      ? [McpProtocol.v2025_06_18]
      : [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25],
  registrations: Tools.layer
}).pipe(Layer.provide(NodeStdio.layer))

NodeRuntime.runMain(Effect.scoped(Layer.launch(server)), { disableErrorReporting: true })
