import { layerNothing } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import * as ChatEngine from "@inspo/rollout/ChatEngine"
import { ChatPolicy, ChatRollout } from "@inspo/rollout"
import { Layer } from "effect"

/** All that a run needs of a model that is a function: no tokens, no log-probabilities, no training. */
export const layer = (answer: (conversation: string) => Promise<string>) => {
  const policy = ChatPolicy.layer({
    model: "my-model",
    write: ({ messages }) => answer(messages.map((message) => ("text" in message ? message.text : "")).join("\n"))
  })
  return Layer.merge(ChatRollout.layer({ agent: "direct" }), ChatEngine.layer).pipe(
    Layer.provide([policy, layerNothing, layerExactMatch])
  )
}
