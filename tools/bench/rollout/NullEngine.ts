import { Engine, type SampledSequence, type Tokenizer } from "@inspo/engine"
import { Array as Arr, Effect, Layer } from "effect"
import { shape } from "./Shape.ts"

/** What the policy writes in a turn of a member of a group, both counted from 0: always as many tokens. */
export type Turns = (turn: number, member: number) => ReadonlyArray<number>

/** An engine that does nothing but answer: what it takes is the loop's own cost. */
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
