import { Engine } from "@inspo/engine"
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

/**
 * `/completion`, `/tokenize` and `/props` as llama.cpp's server has them, over an engine. Like that server it leaves out
 * some tokens' log-probabilities: which, the seed says.
 */
export const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const engine = yield* Engine
    const { profile, tokenizer } = engine
    yield* router.add("GET", "/v1/models", () =>
      Effect.succeed(HttpServerResponse.jsonUnsafe({ data: [{ id: "served", owned_by: "llamacpp" }] }))
    )
    yield* router.add("GET", "/props", () =>
      Effect.succeed(
        HttpServerResponse.jsonUnsafe({
          total_slots: 4,
          default_generation_settings: { n_ctx: profile.contextLength }
        })
      )
    )
    yield* router.add("POST", "/tokenize", (request) =>
      Effect.gen(function* () {
        const { content } = yield* Effect.flatMap(request.json, decodeText)
        return HttpServerResponse.jsonUnsafe({ tokens: tokenizer.encode(content) })
      }).pipe(Effect.orDie)
    )
    yield* router.add("POST", "/completion", (request) =>
      Effect.gen(function* () {
        const { logit_bias, n_predict, n_probs, prompt, seed, stop, temperature, top_p } = yield* Effect.flatMap(
          request.json,
          decode
        )
        const [[forced] = []] = logit_bias
        if (forced !== undefined) {
          const ids = Array.from({ length: tokenizer.vocabularySize }, (_, id) => id)
          const scores = yield* engine.score(
            "current",
            ids.map((id) => ({ prompt, response: [id] }))
          )
          const entries = ids.map((id) => ({ id, logprob: scores[id]?.[0] ?? NaN }))
          return HttpServerResponse.jsonUnsafe({
            tokens: [forced],
            stop_type: "limit",
            completion_probabilities: [
              { ...entries[forced], top_logprobs: entries.toSorted((a, b) => b.logprob - a.logprob).slice(0, n_probs) }
            ]
          })
        }
        const [result] = yield* engine.sample([
          {
            prompt,
            n: 1,
            stop,
            maxTokens: n_predict,
            temperature,
            topP: top_p,
            seed: String(seed)
          }
        ])
        const { logprobs = [], stopReason = "length", tokens = [] } = result?.sequences[0] ?? {}
        const last = tokens.at(-1)
        return HttpServerResponse.jsonUnsafe({
          tokens,
          stop_type: stopReason === "length" ? "limit" : last === tokenizer.endOfSequence ? "eos" : "word",
          completion_probabilities: tokens
            .map((id, at) => ({ id, logprob: logprobs[at] }))
            .filter((_, at) => (seed + at * at) % 3 > 0)
        })
      }).pipe(
        Effect.catch((error) =>
          Effect.succeed(HttpServerResponse.jsonUnsafe({ error: { message: String(error) } }, { status: 400 }))
        )
      )
    )
  })
)

const decodeText = Schema.decodeUnknownEffect(Schema.Struct({ content: Schema.String }))

const decode = Schema.decodeUnknownEffect(
  Schema.Struct({
    prompt: Schema.Array(Schema.Int),
    n_predict: Schema.Int,
    n_probs: Schema.Int,
    seed: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
    stop: Schema.Array(Schema.String),
    temperature: Schema.Finite,
    top_p: Schema.Finite,
    logit_bias: Schema.Array(Schema.Tuple([Schema.Int, Schema.Finite]))
  })
)
