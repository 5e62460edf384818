import type { RunConfig } from "@inspo/config"
import { McpError } from "@inspo/mcp"
import * as McpTools from "@inspo/mcp/McpTools"
import { builtInTools } from "@inspo/rollout"
import { Effect } from "effect"

/**
 * The tools in `rollout.tools` that are not built in, from the servers in `rollout.mcp`. Fails if a server does not answer
 * within `timeoutSeconds`, or if a tool is missing or exists twice.
 */
export const named = Effect.fnUntraced(function* ({ rollout }: Pick<RunConfig, "rollout">, timeoutSeconds: number) {
  const tools = yield* McpTools.make(rollout.mcp, { variable: (name) => process.env[name], timeoutSeconds })
  const refuse = (reason: string) => new McpError({ server: "of rollout.mcp", reason })
  const known = tools.map(({ name }) => name)
  for (const name of rollout.tools) {
    const isThere = known.includes(name)
    if (isThere && builtInTools.includes(name))
      return yield* refuse(
        `<${name}> is the name of a built-in tool; rename it on the server, or leave it out of rollout.tools`
      )
    if (!isThere && !builtInTools.includes(name))
      return yield* refuse(
        `rollout.tools has ${JSON.stringify(name)}, expected some of ${[...builtInTools, ...known].join(", ")}`
      )
  }
  return tools.filter(({ name }) => rollout.tools.includes(name))
})
