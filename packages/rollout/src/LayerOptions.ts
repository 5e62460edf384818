import type { Agent } from "./Agent.ts"
import type * as Tool from "./Tool.ts"

/** `tools` are added to the built-in ones (see `builtInTools`); `agent` replaces the one that the config names. */
export interface LayerOptions {
  readonly tools?: ReadonlyArray<Tool.Tool>
  readonly agent?: Agent
}
