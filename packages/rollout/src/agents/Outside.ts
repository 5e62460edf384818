import { Schema } from "effect"
import type { Agent, AgentKind } from "../Agent.ts"

/** `timeout` is how many seconds the program may be silent while an episode waits. */
type Parameters = NonNullable<Agent["outside"]>

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/**
 * The agent `outside`: a program, an address, a function or workers play each episode, and asks the policy at a base URL that it is given. Its
 * limit of calls is `maxTurns` and one more.
 */
export const agent: AgentKind<"outside", { program: string | null; workers: number; timeout: number }, Parameters> = {
  name: "outside",
  description: "is played by `program`, in any language, which asks the policy as a model server",
  source: "agents recorded by their model calls, as in agent-lightning and AReaL",
  certainty: "text",
  defaults: { program: null, workers: 1, timeout: 600 },
  parameters: { program: Schema.NonEmptyString, workers: Positive, timeout: Positive },
  of: (outside) => ({
    name: "outside",
    outside,
    tools: () => [],
    restarts: true,
    make: () => () => {
      throw new TypeError("an agent outside is played by its program")
    }
  })
}
