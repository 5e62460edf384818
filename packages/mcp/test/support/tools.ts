import { Effect, Layer, Schema } from "effect"
import { McpServer, Tool, Toolkit } from "effect/ai"

const toolkit = Toolkit.make(
  Tool.make("add_numbers", {
    description: "Adds two numbers.",
    parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
    success: Schema.Finite
  }),
  Tool.make("echo", {
    description: "Says it again.",
    parameters: Schema.Struct({ text: Schema.String }),
    success: Schema.String
  }),
  Tool.make("variable", {
    description: "Reads a variable.",
    parameters: Schema.Struct({ name: Schema.String }),
    success: Schema.String
  }),
  Tool.make("refuse", {
    description: "Refuses.",
    parameters: Schema.Struct({ text: Schema.String }),
    success: Schema.String,
    failure: Schema.String
  }),
  Tool.make("process", { description: "Its process.", parameters: Tool.EmptyParams, success: Schema.Finite }),
  Tool.make("crash", { description: "Ends the process.", parameters: Tool.EmptyParams, success: Schema.String })
)

const handlers = toolkit.toLayer({
  add_numbers: ({ a, b }) => Effect.succeed(a + b),
  echo: ({ text }) => Effect.succeed(text),
  variable: ({ name }) => Effect.succeed(process.env[name] ?? "not set"),
  refuse: ({ text }) => Effect.fail(`There is no ${text}.`),
  process: () => Effect.succeed(process.pid),
  crash: () => Effect.sync(() => process.exit(1))
})

export const layer = McpServer.toolkit(toolkit).pipe(Layer.provide(handlers))
