import { Engine, type SampledSequence, type Tokenizer } from "@inspo/engine"
import { Array as Arr, Effect, Layer } from "effect"
import { shape } from "./Shape.ts"

/** The tokens of a turn of a group's member, both counted from 0; always the same number. */
export type Turns = (turn: number, member: number) => ReadonlyArray<number>

/** An engine that responds at once, so that only the loop is measured. */
export const layer = (tokenizer: Tokenizer, turns: Turns): Layer.Layer<Engine> => {
  const written = Arr.makeBy(shape.rollouts, (member) =>
    Arr.makeBy(shape.turns, (turn): SampledSequence => {
      const tokens = turns(turn, member)
      return { tokens, logprobs: tokens.map((token) => -((token % 17) + 1) / 16), stopReason: "stop" }
    })
  )
  return Layer.succeed(Engine, {
    profile: {
      name: "null",
      model: "null",
      parameters: 0,
      contextLength: shape.context,
      concurrency: shape.concurrency,
      deterministic: true,
      fingerprint: "null"
    },
    tokenizer,
    sample: (requests) =>
      Effect.sync(() =>
        requests.map(({ seed }) => {
          const [, member, turn] = seed.split("/")
          const sequence = written[Number(member)]?.[Number(turn)]
          return { sequences: sequence === undefined ? [] : [sequence] }
        })
      ),
    train: ({ datums }) => Effect.succeed({ loss: 0, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: datums.length }),
    score: (_, asked) => Effect.sync(() => asked.map(({ response }) => response.map(() => -1))),
    save: (name) => Effect.succeed({ uri: name, hash: "null" }),
    restore: () => Effect.void,
    remove: () => Effect.void
  })
}
