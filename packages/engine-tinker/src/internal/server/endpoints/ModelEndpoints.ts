import { Effect } from "effect"
import { baseModel, lora, type Parts } from "./Parts.ts"
import type * as Wire from "../../../Wire.ts"
import { json } from "../Outcomes.ts"

/** How models begin and end, and what is reported of them. */
export const make = (options: Parts) => {
  const { engine, futures, model, models, sessions, submissions } = options
  return {
    createModel: Effect.fnUntraced(function* (request: typeof Wire.CreateModelRequest.Type, digest: string) {
      yield* sessions.asked(request.session_id)
      yield* baseModel(model, request.base_model)
      const id = `${request.session_id}:train:${request.model_seq_id}`
      yield* models.checkRoom(id)
      return yield* futures.submit({
        slot: id,
        digest,
        once: true,
        owner: request.session_id,
        work: Effect.map(
          models.add(id, {
            session: request.session_id,
            loraRank: request.lora_config?.rank ?? null,
            metadata: request.user_metadata ?? null
          }),
          ({ loraRank }) => json({ model_id: id, base_model: model, ...lora(loraRank) })
        ),
        begin: (run) => run
      })
    }),

    unloadModel: Effect.fnUntraced(function* (request: typeof Wire.ModelRequest.Type) {
      const owner = yield* models.asked(request.model_id)
      return yield* submissions.atOnce({
        slot: null,
        digest: "",
        once: false,
        owner: owner.session,
        work: Effect.as(models.free(owner), json({ model_id: owner.id }))
      })
    }),

    info: ({ model_id }: typeof Wire.ModelRequest.Type) =>
      Effect.map(models.asked(model_id), ({ loraRank }) => ({
        type: "get_info",
        model_id,
        model_data: { arch: engine.profile.model, model_name: model, tokenizer_id: options.tokenizer },
        ...lora(loraRank),
        model_name: model
      }))
  }
}
