import * as fc from "fast-check"
import type { Ordinary } from "./Hostile.ts"
import type { Body } from "./Message.ts"

const json = (value: unknown): Body => ({ _tag: "Json", value })
const get = (path: string): Ordinary => ({ method: "GET", path, body: null })
const post = (path: string, value: unknown): Ordinary => ({ method: "POST", path, body: json(value) })

/** Something that the server gave out before: which of them is up to the number. */
const given = (kind: "session" | "model" | "sampler" | "future" | "checkpoint"): fc.Arbitrary<string> =>
  fc.nat(7).map((index) => `@${kind}/${index}`)

const token = fc.integer({ min: 0, max: 60 })
const tokens = fc.array(token, { minLength: 1, maxLength: 12 })
const few = fc.integer({ min: 1, max: 3 })
const name = fc.stringMatching(/^[a-z]{1,8}$/u)

const chunksOf = (list: ReadonlyArray<number>) => ({ chunks: [{ type: "encoded_text" as const, tokens: list }] })

const datum = fc.tuple(tokens, token, fc.double({ min: -2, max: 2, noNaN: true })).map(([input, last, advantage]) => {
  const tensor = (data: ReadonlyArray<number>, dtype: "float32" | "int64") => ({ data, dtype, shape: [data.length] })
  return {
    model_input: chunksOf(input),
    loss_fn_inputs: {
      target_tokens: tensor([...input.slice(1), last], "int64"),
      logprobs: tensor(
        input.map(() => -1),
        "float32"
      ),
      advantages: tensor(
        input.map((_, at) => (at === input.length - 1 ? advantage : 0)),
        "float32"
      )
    }
  }
})

const lossInput = fc.record({
  data: fc.array(datum, { minLength: 1, maxLength: 3 }),
  loss_fn: fc.constantFrom("importance_sampling" as const, "ppo" as const, "importance_sampling" as const)
})

const samplingParams = fc.record(
  {
    max_tokens: fc.integer({ min: 1, max: 8 }),
    seed: fc.nat(),
    temperature: fc.constantFrom(0, 0.7, 1),
    top_p: fc.constantFrom(0.5, 1),
    stop: fc.constantFrom(["</answer>"], "a", [3])
  },
  { requiredKeys: ["max_tokens"] }
)

const api = "/api/v1"

/** The Tinker protocol in JSON and protobuf. */
export const tinker: fc.Arbitrary<Ordinary> = fc.oneof(
  fc.constantFrom(
    get(`${api}/healthz`),
    get(`${api}/get_server_capabilities`),
    get(`${api}/sessions`),
    get(`${api}/checkpoints?limit=5&offset=1`),
    get(`${api}/training_runs?limit=5`),
    post(`${api}/client/config`, { sdk_version: "1" }),
    post(`${api}/client/dynamic_config`, {}),
    post(`${api}/telemetry`, { events: [{ a: 1 }] }),
    post(`${api}/create_session`, { tags: ["a"], sdk_version: "1", user_metadata: { a: { b: 1 } } })
  ),
  fc
    .tuple(
      fc.constantFrom("sessions", "sessions", "samplers", "training_runs", "checkpoints"),
      given("session"),
      given("model"),
      given("sampler")
    )
    .map(([what, session, model, sampler]) =>
      what === "checkpoints"
        ? get(`${api}/training_runs/${model}/checkpoints`)
        : get(`${api}/${what}/${what === "sessions" ? session : what === "samplers" ? sampler : model}`)
    ),
  fc.tuple(given("model"), fc.constantFrom("weights", "sampler_weights"), name).map(([model, kind, name]) => ({
    method: "DELETE",
    path: `${api}/training_runs/${model}/checkpoints/${kind}/${name}`,
    body: null
  })),
  fc
    .tuple(given("session"), fc.constantFrom("finish", "heartbeat", "heartbeat"))
    .map(([session, what]) =>
      what === "finish"
        ? post(`${api}/sessions/${session}/finish`, { reason: "done" })
        : post(`${api}/session_heartbeat`, { session_id: session })
    ),
  fc.tuple(given("session"), fc.nat(9), fc.nat(64)).map(([session_id, model_seq_id, rank]) =>
    post(`${api}/create_model`, {
      session_id,
      model_seq_id,
      base_model: "inspo-tiny",
      lora_config: { rank },
      user_metadata: { a: 1 }
    })
  ),
  fc
    .tuple(given("model"), fc.constantFrom("unload_model", "get_info", "get_info"))
    .map(([model_id, what]) => post(`${api}/${what}`, { model_id })),
  given("checkpoint").map((tinker_path) => post(`${api}/weights_info`, { tinker_path })),
  fc
    .tuple(given("model"), lossInput)
    .map(([model_id, forward_input]) => post(`${api}/forward`, { model_id, forward_input })),
  fc
    .tuple(given("model"), lossInput)
    .map(([model_id, forward_backward_input]) => post(`${api}/forward_backward`, { model_id, forward_backward_input })),
  fc
    .tuple(given("model"), lossInput, fc.boolean(), fc.nat(3))
    .map(([model, input, forwardOnly, sequence]): Ordinary => ({
      method: "POST",
      path: `${api}/forward_backward`,
      body: { _tag: "Protobuf", model, sequence, input, forwardOnly, flips: [], cut: null }
    })),
  fc
    .tuple(given("model"), fc.constantFrom(0, 1e-4, 1e-2))
    .map(([model_id, learning_rate]) => post(`${api}/optim_step`, { model_id, adam_params: { learning_rate } })),
  fc
    .tuple(given("model"), name, fc.constantFrom("save_weights", "save_weights_for_sampler"))
    .map(([model_id, path, what]) => post(`${api}/${what}`, { model_id, path })),
  fc
    .tuple(given("model"), given("checkpoint"))
    .map(([model_id, path]) => post(`${api}/load_weights`, { model_id, path })),
  fc
    .tuple(given("session"), fc.nat(20))
    .map(([session_id, sampling_session_seq_id]) =>
      post(`${api}/create_sampling_session`, { session_id, sampling_session_seq_id, base_model: "inspo-tiny" })
    ),
  fc
    .tuple(tokens, samplingParams, few, given("sampler"), fc.boolean())
    .map(([list, sampling_params, num_samples, sampling_session_id, isSession]) =>
      post(`${api}/asample`, {
        prompt: chunksOf(list),
        sampling_params,
        num_samples,
        ...(isSession ? { sampling_session_id } : { base_model: "inspo-tiny", prompt_logprobs: true })
      })
    ),
  given("future").map((request_id) => post(`${api}/cancel_future`, { request_id })),
  {
    weight: 4,
    arbitrary: given("future").map((request_id) => post(`${api}/retrieve_future`, { request_id }))
  }
)

const query = fc.constantFrom("mayor of Ostrel", "company Denco", "river", "the", 'Ulva OR NOT "x" (', "")

/** Search-R1's `/retrieve`. */
export const retriever: fc.Arbitrary<Ordinary> = fc
  .record(
    { queries: fc.array(query, { maxLength: 4 }), topk: fc.integer({ min: 1, max: 5 }), return_scores: fc.boolean() },
    { requiredKeys: ["queries"] }
  )
  .map((body) => post("/retrieve", body))

const run = fc.constantFrom("first", "second", "nothing")

/** What the dashboard's page asks for, and its files. */
export const dashboard: fc.Arbitrary<Ordinary> = fc.oneof(
  fc.constantFrom(get("/api/runs"), get("/"), get("/api/changes"), get("/runs/first"), get("/index.html")),
  fc
    .tuple(run, fc.constantFrom("overview", "population", "lineage", "cost"))
    .map(([run, view]) => get(`/api/runs/${run}/${view}`)),
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        run,
        fc.array(
          fc.oneof(
            fc.constantFrom(
              "purpose=train",
              "outcome=wrong",
              "order=longest",
              "mode=no-search",
              "text=mayor",
              "text=(("
            ),
            fc
              .tuple(
                fc.constantFrom("offset", "limit", "fromStep", "toStep"),
                fc.constantFrom("0", "1", "-1", "200", "201", "1e9", "9007199254740993", "NaN", "", "0x1")
              )
              .map(([key, value]) => `${key}=${value}`),
            fc.webQueryParameters()
          ),
          { maxLength: 4 }
        )
      )
      .map(([run, query]) => get(`/api/runs/${run}/trajectories?${query.join("&")}`))
  },
  fc
    .tuple(run, fc.constantFrom("train/1/0/0", "evaluate/x", "", "%00", "__proto__"))
    .map(([run, id]) => get(`/api/runs/${run}/trajectory?id=${id}`)),
  fc.array(run, { maxLength: 20 }).map((runs) => get(`/api/compare?runs=${runs.join(",")}`))
)

const prompt = Array.from({ length: 200 }, () => 5)

/** The largest requests that an ordinary client makes of an engine: they take the memory that it works in. */
export const large = {
  tinker: post(`${api}/asample`, {
    prompt: chunksOf(prompt),
    sampling_params: { max_tokens: 100, temperature: 1 },
    num_samples: 256,
    base_model: "inspo-tiny"
  })
}
