/** A bigram model with a chat template: a real distribution, so that log-probabilities can be computed again. */
import { Engine } from "@inspo/engine"
import type { TemplateMessage, Tokenizer } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { Effect, Layer } from "effect"

/** An assistant's message ends with the end of sequence; the texts of a template are letters, since the model has no others. */
export const render = (messages: ReadonlyArray<TemplateMessage>): string =>
  `${messages.map(({ content, role }) => (role === "assistant" ? `A:${content}<end>` : `${role.charAt(0).toUpperCase()}:${content}.`)).join("")}A:`

export const layer = (contextLength = 4_000) =>
  Layer.effect(
    Engine,
    Effect.map(TabularEngine.make, (engine) => {
      const { tokenizer } = engine
      const encode: Tokenizer["encode"] = (text) =>
        text
          .split("<end>")
          .flatMap((part, index) =>
            index === 0 ? tokenizer.encode(part) : [tokenizer.endOfSequence, ...tokenizer.encode(part)]
          )
      return {
        ...engine,
        profile: { ...engine.profile, contextLength },
        tokenizer: { ...tokenizer, encode, render, prompt: (messages) => encode(render(messages)) }
      }
    })
  )
