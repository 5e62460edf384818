import { type SampleRequest, Stops } from "@inspo/engine"
import { Effect, Option } from "effect"
import { baseModel, type Parts } from "./Parts.ts"
import type * as Wire from "../../../Wire.ts"
import type { Outcome } from "../Outcomes.ts"
import { refuse } from "../Refusal.ts"
import type { Source } from "../Samplers.ts"
import * as SampleRequests from "../SampleRequests.ts"
import * as RequestStops from "../RequestStops.ts"

/** Samplers, and samples from them. */
export const make = (options: Parts) => {
  const { engine, model, samplers, sessions, submissions } = options
  const base: Source = { weights: options.loaded.base, check: Effect.void }
  const sampled = sampling(options, base)

  const sourceOf = Effect.fnUntraced(function* (path: string | null | undefined, wanted: string | null | undefined) {
    if (path !== null && path !== undefined) {
      const saved = yield* options.checkpoints.get(path)
      return { weights: { name: "path", saved, dirty: false }, check: Effect.void }
    }
    if (wanted === null || wanted === undefined)
      return yield* refuse("none of sampling_session_id, model_path and base_model is given, expected one")
    yield* baseModel(model, wanted)
    return base
  })

  return {
    createSamplingSession: Effect.fnUntraced(function* (request: typeof Wire.CreateSamplingSessionRequest.Type) {
      yield* sessions.asked(request.session_id)
      const id = `${request.session_id}:sample:${request.sampling_session_seq_id}`
      if (!samplers.has(id)) {
        const source = yield* sourceOf(request.model_path, request.base_model)
        samplers.add(id, { session: request.session_id, source, path: request.model_path ?? null })
      }
      return { sampling_session_id: id }
    }),

    sampler: (id: string) =>
      Effect.map(samplers.get(id), ({ path }) => ({ sampler_id: id, base_model: model, model_path: path })),

    /** `seed` is the text of the engine's own seeds, for clients that know it. */
    asample: Effect.fnUntraced(function* (request: Wire.SampleRequest, seed: Option.Option<string>, digest: string) {
      const id = request.sampling_session_id ?? null
      const sampler = id === null ? null : yield* Effect.tap(samplers.get(id), ({ session }) => sessions.heard(session))
      const source = sampler?.source ?? (yield* sourceOf(request.model_path, request.base_model))
      const stops = yield* RequestStops.read(request.sampling_params.stop, engine)
      const sampleRequest = yield* SampleRequests.read(request, stops.texts, seed, engine, options.limits)
      const scored = yield* SampleRequests.scoredTokens(request, sampleRequest.prompt)
      const request_id = yield* submissions.atOnce({
        slot: id === null || (request.seq_id ?? null) === null ? null : `${id}#${request.seq_id}`,
        digest: `${Option.getOrElse(seed, () => "")} ${digest}`,
        once: false,
        owner: sampler?.session ?? null,
        work: sampled(source, sampleRequest, stops, scored)
      })
      return {
        request_id,
        sample_sequence_ids: Array.from({ length: sampleRequest.n }, (_, index) => `${request_id}-${index}`)
      }
    })
  }
}

/** Samples, and scores the last `scored` tokens of the prompt where that is a number. */
const sampling = ({ engine, loaded, sampleOne }: Parts, base: Source) => {
  const promptLogprobs = Effect.fnUntraced(function* (source: Source, tokens: ReadonlyArray<number>, scored: number) {
    const from = tokens.length - scored
    const sequence = { prompt: tokens.slice(0, from), response: tokens.slice(from) }
    const policy = source === base ? "reference" : "current"
    const [scores = []] = yield* loaded.using(
      source.weights,
      Effect.andThen(source.check, engine.score(policy, [sequence]))
    )
    return [...sequence.prompt.map(() => null), ...scores]
  })

  return Effect.fnUntraced(function* (
    source: Source,
    request: SampleRequest,
    stops: RequestStops.RequestStops,
    scored: number | null
  ) {
    const { sequences } = yield* sampleOne(source, request)
    const prompt_logprobs = scored === null ? null : yield* promptLogprobs(source, request.prompt, scored)
    return {
      _tag: "Samples",
      value: {
        sequences: sequences.map((sequence) => {
          const end = stops.end(sequence.tokens)
          const { logprobs, stopReason, tokens } = end === null ? sequence : Stops.cut(sequence, end)
          return { stop_reason: stopReason, tokens, logprobs }
        }),
        prompt_logprobs
      }
    } satisfies Outcome
  })
}
