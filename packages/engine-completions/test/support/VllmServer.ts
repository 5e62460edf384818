import { Engine, Stops } from "@inspo/engine"
import { Effect, type Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** `/v1/completions` as vLLM has it, over an engine, with what of `/v1/models` a client reads. */
export const routes = (apiKey?: Redacted.Redacted): Layer.Layer<never, never, HttpRouter.HttpRouter | Engine> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const engine = yield* Engine
      const { enforce, taken } = Stops.make(engine)
      const refused = (status: number, message: string) =>
        HttpServerResponse.jsonUnsafe({ error: { message } }, { status })
      yield* router.add("GET", "/v1/models", ({ headers }) =>
        Effect.succeed(
          apiKey === undefined || headers["authorization"] === `Bearer ${Redacted.value(apiKey)}`
            ? HttpServerResponse.jsonUnsafe({
                data: [{ id: "served", owned_by: "vllm", max_model_len: engine.profile.contextLength }]
              })
            : refused(401, "the header Authorization does not hold this server's key")
        )
      )
      yield* router.add("POST", "/v1/completions", (request) =>
        Effect.gen(function* () {
          // Other requests arrive meanwhile.
          yield* Effect.yieldNow
          const asked = yield* Effect.flatMap(request.json, decode)
          const { max_tokens, n, prompt, prompt_logprobs, seed, stop, temperature, top_k, top_p } = asked
          const [sampled] = yield* engine.sample([
            {
              prompt,
              n,
              stop: taken(stop),
              // A prompt that is only scored may fill the context.
              maxTokens: Math.min(max_tokens, engine.profile.contextLength - prompt.length),
              temperature,
              topP: top_p,
              ...(top_k > 0 ? { topK: top_k } : {}),
              seed: String(seed)
            }
          ])
          const [scores = []] =
            prompt_logprobs === undefined
              ? []
              : yield* engine.score("current", [{ prompt: prompt.slice(0, 1), response: prompt.slice(1) }])
          return HttpServerResponse.jsonUnsafe({
            choices: (sampled?.sequences ?? [])
              .map((sequence) => enforce(sequence, stop))
              .map(({ logprobs, stopReason, tokens }, index) => ({
                index,
                finish_reason: stopReason,
                token_ids: tokens,
                logprobs: { tokens: tokens.map((token) => `token_id:${token}`), token_logprobs: logprobs },
                ...(prompt_logprobs === undefined
                  ? {}
                  : {
                      prompt_logprobs: [
                        null,
                        ...scores.map((logprob, at) => ({ [String(prompt[at + 1])]: { logprob } }))
                      ]
                    })
              }))
          })
        }).pipe(Effect.catch((error) => Effect.succeed(refused(400, String(error)))))
      )
    })
  )

const decode = Schema.decodeUnknownEffect(
  Schema.Struct({
    prompt: Schema.Array(Schema.Int),
    n: Schema.Int,
    max_tokens: Schema.Int,
    temperature: Schema.Finite,
    top_p: Schema.Finite,
    top_k: Schema.Int,
    seed: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
    stop: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    prompt_logprobs: Schema.optionalKey(Schema.Int)
  })
)
