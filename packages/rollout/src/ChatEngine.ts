import { Engine, EngineError, frozenPolicy, withoutTokens } from "@inspo/engine"
import { Effect, Layer } from "effect"
import { ChatPolicy } from "./ChatPolicy.ts"

/**
 * What a run asks of its engine besides rollouts, for a chat model: its profile, and references to the one policy that there
 * is. It has no tokens: its tokenizer is empty, and sampling, training and scoring fail.
 */
export const layer: Layer.Layer<Engine, never, ChatPolicy> = Layer.effect(
  Engine,
  Effect.map(ChatPolicy, ({ profile }) => {
    const refuse = (operation: EngineError["operation"]) =>
      Effect.fail(new EngineError({ operation, reason: `${profile.name} is a chat model, which has no token ids` }))
    return Engine.of({
      profile: { ...profile, parameters: 0, trains: false, chat: true, scoresReference: false, deterministic: false },
      tokenizer: withoutTokens,
      sample: () => refuse("sample"),
      train: () => refuse("train"),
      score: () => refuse("score"),
      ...frozenPolicy(profile.model, profile.fingerprint, `, the only policy of ${profile.name}`)
    })
  })
)
