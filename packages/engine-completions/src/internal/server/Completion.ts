import { type Engine, type SampleRequest, type SampleResult, Stops, unsampled } from "@inspo/engine"
import { OpenAiRefusal } from "@inspo/http/server"
import { Clock, Effect, Option, Random } from "effect"
import type * as Wire from "../../Wire.ts"
import * as Answer from "./Answer.ts"
import type { Plan } from "./Plan.ts"

/** Samples what one request asks for. */
type SampleOne = (request: SampleRequest) => Effect.Effect<SampleResult, OpenAiRefusal.Refusal>

/** Answers a request; `seed` takes the place of the one in it. */
export const make = (engine: Engine.Interface, sampleOne: SampleOne, model: string) => {
  const answer = answering(engine, sampleOne)
  return Effect.fnUntraced(function* (
    asked: Plan,
    seed: Option.Option<string>
  ): Effect.fn.Return<Wire.CompletionResponse, OpenAiRefusal.Refusal> {
    const stream = Option.getOrElse(seed, () => String(asked.seed ?? "")) || (yield* word)
    const answered = yield* Effect.forEach(
      asked.prompts,
      // Prompts of one request draw from streams of their own.
      (prompt, index) => answer(asked, index === 0 ? stream : `${stream}/${index}`, prompt),
      { concurrency: "unbounded" }
    )
    return {
      id: `cmpl-${yield* word}`,
      object: "text_completion",
      created: yield* seconds,
      model,
      choices: Answer.choices(answered, asked, engine.tokenizer),
      usage: Answer.usage(answered)
    }
  })
}

export const seconds = Effect.map(Clock.currentTimeMillis, (milliseconds) => Math.floor(milliseconds / 1000))

/** A seed for requests without one. */
const word = Effect.map(Random.nextIntBetween(0, 0xffffffff), String)

/** Continues one prompt, and scores it where that is asked for. */
const answering = (engine: Engine.Interface, sampleOne: SampleOne) =>
  Effect.fnUntraced(function* (asked: Plan, seed: string, prompt: Plan["prompts"][number]) {
    const { tokens } = prompt
    const maxTokens = Math.min(asked.maxTokens, engine.profile.contextLength - tokens.length)
    const { n, stop, temperature, topK, topP } = asked
    const some = topK === null ? {} : { topK }
    const sequences =
      maxTokens < 1
        ? unsampled(n).sequences
        : yield* sample(engine, sampleOne, {
            prompt: tokens,
            n,
            stop,
            maxTokens,
            temperature,
            topP,
            ...some,
            seed
          })
    const isScored = asked.promptLogprobs || (asked.echo && asked.logprobs)
    const [scores = null] = isScored
      ? yield* Effect.mapError(
          engine.score("current", [{ prompt: tokens.slice(0, 1), response: tokens.slice(1) }]),
          OpenAiRefusal.failed
        )
      : []
    return { prompt, scores, sequences } satisfies Answer.Answered
  })

/** Samples, with the stop texts that the engine does not take found in what it gives. */
const sample = (engine: Engine.Interface, sampleOne: SampleOne, request: SampleRequest) => {
  const { enforce, taken } = Stops.make(engine)
  return Effect.map(sampleOne({ ...request, stop: taken(request.stop) }), ({ sequences }) =>
    sequences.map((sequence) => enforce(sequence, request.stop))
  )
}
