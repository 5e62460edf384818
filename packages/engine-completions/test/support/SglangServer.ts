import { Engine } from "@inspo/engine"
import { Wire } from "@inspo/engine-completions"
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** `/generate` as SGLang has it, over an engine, with what of `/v1/models` a client reads. */
export const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const engine = yield* Engine
    yield* router.add("GET", "/v1/models", () =>
      Effect.succeed(
        HttpServerResponse.jsonUnsafe({
          data: [{ id: "served", owned_by: "sglang", max_model_len: engine.profile.contextLength }]
        })
      )
    )
    yield* router.add("POST", "/generate", (request) =>
      Effect.gen(function* () {
        const { input_ids, logprob_start_len, return_logprob, sampling_params } = yield* Effect.flatMap(
          request.json,
          decode
        )
        const { max_new_tokens, sampling_seed, stop, temperature, top_p } = sampling_params
        const [sampled] =
          max_new_tokens === 0
            ? []
            : yield* engine.sample([
                {
                  prompt: input_ids,
                  n: 1,
                  stop,
                  maxTokens: max_new_tokens,
                  temperature,
                  topP: top_p,
                  seed: String(sampling_seed)
                }
              ])
        const { logprobs = [], stopReason = "length", tokens = [] } = sampled?.sequences[0] ?? {}
        const scored =
          logprob_start_len === 0
            ? yield* engine.score("current", [{ prompt: input_ids.slice(0, 1), response: input_ids.slice(1) }])
            : []
        return HttpServerResponse.jsonUnsafe({
          text: engine.tokenizer.decode(tokens),
          output_ids: tokens,
          meta_info: {
            finish_reason: { type: stopReason },
            ...(return_logprob
              ? { output_token_logprobs: tokens.map((token, at) => [logprobs[at], token, null]) }
              : {}),
            ...(scored.length > 0
              ? {
                  input_token_logprobs: input_ids.map((token, at) => [
                    at === 0 ? null : scored[0]?.[at - 1],
                    token,
                    null
                  ])
                }
              : {})
          }
        })
      }).pipe(
        Effect.catch((error) =>
          Effect.succeed(HttpServerResponse.jsonUnsafe({ error: String(error) }, { status: 400 }))
        )
      )
    )
  })
)

const decode = Schema.decodeUnknownEffect(Wire.GenerateRequest)
