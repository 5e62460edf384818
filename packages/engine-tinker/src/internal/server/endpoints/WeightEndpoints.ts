import { Effect } from "effect"
import { baseModel, lora, type Parts } from "./Parts.ts"
import type * as Wire from "../../../Wire.ts"
import { checkName, pathOf } from "../Checkpoints.ts"
import type { Model } from "../Models.ts"
import { json } from "../Outcomes.ts"
import { refuse, answered } from "../Refusal.ts"

export const make = (options: Parts) => {
  const { checkpoints, submissions } = options
  return {
    saveWeights: Effect.fnUntraced(function* (request: typeof Wire.SaveWeightsRequest.Type, digest: string) {
      yield* checkName(request.path)
      return yield* submissions.inOrder("save_weights", request, digest, (model) =>
        Effect.map(
          checkpoints.save(model, "weights", request.path ?? `seq-${request.seq_id ?? model.version}`, request),
          ({ path, ref }) => json({ path, hash: ref.hash, type: "save_weights" })
        )
      )
    }),

    loadWeights: loading(options),

    saveForSampler: Effect.fnUntraced(function* (
      request: typeof Wire.SaveWeightsForSamplerRequest.Type,
      digest: string
    ) {
      yield* checkName(request.path)
      return yield* submissions.inOrder("save_weights_for_sampler", request, digest, (model) => {
        const name = request.path ?? null
        return name === null
          ? Effect.sync(() => {
              const sampling_session_id = addSampler(model, request, options)
              return json({ path: null, type: "save_weights_for_sampler", sampling_session_id })
            })
          : Effect.map(checkpoints.save(model, "sampler_weights", name, request), ({ path }) =>
              json({ path, type: "save_weights_for_sampler" })
            )
      })
    }),

    weightsInfo: ({ tinker_path }: typeof Wire.WeightsInfoRequest.Type) =>
      Effect.map(checkpoints.get(tinker_path), ({ loraRank = null }) => ({
        base_model: options.model,
        ...lora(loraRank)
      })),

    removeCheckpoint: Effect.fnUntraced(function* (model: string, kind: string, name: string) {
      const path = pathOf(model, kind, name)
      yield* answered(checkpoints.remove(path, yield* checkpoints.get(path)))
    })
  }
}

const loading = ({ checkpoints, model: served, models, loaded, sessions, submissions }: Parts) => {
  const load = Effect.fnUntraced(function* (model: Model, request: typeof Wire.LoadWeightsRequest.Type) {
    const ref = yield* checkpoints.get(request.path)
    model.version += 1
    model.pending = []
    model.lost = null
    yield* loaded.load(model.weights, ref, request.optimizer === false ? "fresh" : "saved")
    return json({ path: request.path, model_id: model.id, type: "load_weights" })
  })

  return Effect.fnUntraced(function* (request: typeof Wire.LoadWeightsRequest.Type, digest: string) {
    const { base_model, model_id, model_seq_id: sequence = null, session_id } = request
    if (typeof model_id === "string" && typeof session_id !== "string")
      return yield* submissions.inOrder("load_weights", { ...request, model_id }, digest, (model) =>
        load(model, request)
      )
    if (typeof session_id !== "string" || sequence === null || typeof model_id === "string")
      return yield* refuse("expected either model_id, or session_id with model_seq_id for a new model")
    yield* sessions.asked(session_id)
    if (typeof base_model === "string") yield* baseModel(served, base_model)
    const { loraRank = null } = yield* checkpoints.get(request.path)
    const id = `${session_id}:train:${sequence}`
    yield* models.checkRoom(id)
    return yield* submissions.atOnce({
      slot: id,
      digest,
      once: true,
      owner: session_id,
      work: Effect.flatMap(
        models.add(id, { session: session_id, loraRank, metadata: request.user_metadata ?? null }),
        (model) => Effect.tapError(load(model, request), () => models.free(model))
      )
    })
  })
}

/** A sampler of the model's weights as they are now, which lasts until they change; gives its id. */
const addSampler = (
  model: Model,
  request: typeof Wire.SaveWeightsForSamplerRequest.Type,
  { loaded, samplers }: Parts
): string => {
  const { version } = model
  const id = `${model.id}:sampler:${request.sampling_session_seq_id ?? request.seq_id ?? version}`
  samplers.add(id, {
    session: model.session,
    path: null,
    source: {
      weights: version === 0 ? loaded.base : model.weights,
      check: Effect.suspend(() =>
        model.version === version
          ? Effect.void
          : Effect.fail(refuse(`Sampler ${id} is stale: its model was trained since; save its weights again`, 410))
      )
    }
  })
  return id
}
