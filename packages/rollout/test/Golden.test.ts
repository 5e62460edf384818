import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Engine, type Tokenizer } from "@inspo/engine"
import { type ScoredPassage, Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { layer, Prompt, Rollout, type RolloutConfig, SearchR1 } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Layer, Schema } from "effect"
import { searchr1 } from "./support/searchr1.ts"

// Cases computed with the reference implementation; they are kept beside the repository, not in it.
const path = (name: string) => fileURLToPath(new URL(`../../../../shared/golden/${name}.jsonl`, import.meta.url))

/**
 * The reference's counts of a trajectory of the agent `search-r1-exact`: `turns` is 1 and one more for each turn before the
 * last that left it active; `validSearches` counts a search in the last turn, although it is not executed.
 */
const counters = (
  { transcript }: Pick<Trajectory.Trajectory, "transcript">,
  maxTurns: number
): {
  readonly turns: number
  readonly validActions: number
  readonly validSearches: number
  readonly active: boolean
} => {
  const kinds = transcript.map(({ action }) => action.kind)
  return {
    turns: 1 + kinds.slice(0, maxTurns).filter((kind) => kind !== "answer").length,
    validActions: kinds.filter((kind) => kind !== "invalid").length,
    validSearches: kinds.filter((kind) => kind === "search").length,
    active: kinds.at(-1) !== "answer"
  }
}

const rowsOf = <S extends Schema.ConstraintDecoder<unknown>>(name: string, schema: S): ReadonlyArray<S["Type"]> => {
  const decode = Schema.decodeUnknownSync(Schema.fromJsonString(schema))
  return existsSync(path(name))
    ? readFileSync(path(name), "utf8")
        .trim()
        .split("\n")
        .map((line) => decode(line))
    : []
}

const Flag = Schema.Literals([0, 1])
const Result = Schema.Struct({ document: Schema.Struct({ contents: Schema.String }) })
const Results = Schema.Record(Schema.String, Schema.Array(Result))
const Requests = Schema.Array(Schema.Struct({ json: Schema.Struct({ queries: Schema.Array(Schema.String) }) }))
const Executed = Schema.Struct({
  next_obs: Schema.Array(Schema.String),
  dones: Schema.Array(Flag),
  valid_action: Schema.Array(Flag),
  is_search: Schema.Array(Flag)
})

const Cut = Schema.Struct({
  kind: Schema.Literal("postprocess_responses"),
  response: Schema.String,
  expected: Schema.String
})
const Parsed = Schema.Struct({
  kind: Schema.Literal("postprocess_predictions"),
  prediction: Schema.String,
  expected_action: Schema.NullOr(Schema.Literals(["search", "answer"])),
  expected_content: Schema.String
})
const Unparsable = Schema.Struct({
  kind: Schema.Literal("postprocess_predictions_error"),
  prediction: Schema.Unknown
})
const Passages = Schema.Struct({
  kind: Schema.Literal("passages2string"),
  retrieval_result: Schema.Array(Result),
  expected: Schema.String
})
const Execution = Schema.Struct({
  kind: Schema.Literal("execute_predictions"),
  predictions: Schema.Array(Schema.String),
  active_mask: Schema.Array(Schema.Boolean),
  do_search: Schema.Boolean,
  topk: Schema.Int,
  search_results: Results,
  expected_http_requests: Requests,
  expected: Schema.NullOr(Executed),
  expected_error: Schema.NullOr(Schema.String)
})
const Action = Schema.Union([Cut, Parsed, Unparsable, Passages, Execution])

const Loop = Schema.Struct({
  name: Schema.String,
  config: Schema.Struct({
    max_turns: Schema.Int,
    max_start_length: Schema.Int,
    max_prompt_length: Schema.Int,
    max_response_length: Schema.Int,
    max_obs_length: Schema.Int,
    topk: Schema.Int
  }),
  search_results: Results,
  http_requests: Requests,
  turn_trace: Schema.Array(Schema.Struct({ do_search: Schema.Boolean, ...Executed.fields })),
  active_traj_num: Schema.Array(Schema.Int),
  samples: Schema.Array(
    Schema.Struct({
      prompt: Schema.String,
      script: Schema.Array(Schema.String),
      expected: Schema.Struct({
        generations_used: Schema.Int,
        model_inputs: Schema.Array(Schema.String),
        final_prompt_text: Schema.String,
        response_token_ids: Schema.Array(Schema.Int),
        response_text: Schema.String,
        response_len: Schema.Int,
        loss_mask_runs: Schema.Array(Schema.Tuple([Flag, Schema.Int])),
        turns_stats: Schema.Int,
        active_at_end: Schema.Boolean,
        valid_action_stats: Schema.Int,
        valid_search_stats: Schema.Int
      })
    })
  )
})

const PromptCase = Schema.Struct({
  input: Schema.Struct({ question: Schema.String }),
  expected_row: Schema.Struct({
    prompt: Schema.Array(Schema.Struct({ role: Schema.Literals(["user"]), content: Schema.String })),
    question: Schema.String
  })
})

/** The tokenizer of the cases: bytes from 3, after padding (0) and the end of sequence (1), which has no text. */
const tokenizer: Tokenizer = {
  vocabularySize: 259,
  endOfSequence: 1,
  encode: (text) => Array.from(new TextEncoder().encode(text), (byte) => byte + 3),
  decode: (tokens) =>
    new TextDecoder().decode(Uint8Array.from(tokens.flatMap((token) => (token < 3 ? [] : [token - 3])))),
  render: (messages) => messages.map(({ content }) => content).join(""),
  prompt: (messages) => tokenizer.encode(tokenizer.render(messages))
}

/** What the reference tells a policy without a valid action, as its own cases show it. */
const invalidAction = (executed: ReadonlyArray<typeof Executed.Type>): string =>
  executed
    .flatMap(({ next_obs, valid_action }) => next_obs.filter((text, i) => valid_action[i] === 0 && text !== ""))
    .at(0) ?? ""

interface Written {
  readonly trajectory: Trajectory.Trajectory
  readonly inputs: ReadonlyArray<string>
}

/** Runs scripts of the agent `search-r1-exact`; a prompt stands for instruction and question. */
const play = Effect.fnUntraced(function* (
  samples: ReadonlyArray<{ readonly prompt: string; readonly script: ReadonlyArray<string> }>,
  config: RolloutConfig,
  results: typeof Results.Type
) {
  const inputs = new Map<string, Array<string>>()
  const requests: Array<ReadonlyArray<string>> = []
  const engine = Layer.succeed(Engine, {
    ...ScriptedEngine.make(() => "", { contextLength: 100_000, concurrency: 100 }),
    tokenizer,
    sample: (asked) =>
      Effect.succeed(
        asked.map(({ maxTokens, prompt, seed }) => {
          const [sample = "", turn] = seed.split("/")
          inputs.set(sample, [...(inputs.get(sample) ?? []), tokenizer.decode(prompt)])
          const script = samples[Number(sample)]?.script[Number(turn)] ?? ""
          const tokens = [...tokenizer.encode(script), tokenizer.endOfSequence].slice(0, maxTokens)
          return { sequences: [{ tokens, logprobs: tokens.map(() => -1), stopReason: "stop" as const }] }
        })
      )
  })
  const search = Layer.succeed(Search, {
    search: (queries) =>
      Effect.sync(() => {
        requests.push(queries)
        return queries.map((query) => (results[query] ?? []).map(scoredPassage))
      })
  })
  const trajectories = yield* Rollout.pipe(
    Effect.flatMap(({ collect }) =>
      collect(
        samples.map(({ prompt }, index) => ({
          id: Trajectory.TrajectoryId.make(`golden/${index}`),
          instruction: { ...instruction, text: prompt },
          question,
          seed: `${index}`
        }))
      )
    ),
    Effect.provide(layer(config).pipe(Layer.provide([engine, search, layerExactMatch])), { local: true })
  )
  const written = trajectories.map((trajectory, i): Written => ({ trajectory, inputs: inputs.get(`${i}`) ?? [] }))
  return { written, requests }
})

const instruction: Instruction.Instruction = {
  id: Instruction.InstructionId.make("i0"),
  text: "",
  generation: 0,
  parent: null,
  origin: "seed",
  bornAt: 0
}

const question: Question.Question = {
  id: Question.QuestionId.make("q0"),
  question: "?",
  goldenAnswers: ["x"],
  dataSource: "golden"
}

const scoredPassage = ({ document }: typeof Result.Type): ScoredPassage => ({
  passage: Question.passageFromContents("p", document.contents),
  score: 1
})

const counts = { actions: 171, loop: 11, prompts: 164 }

describe.skipIf(!existsSync(path("actions")))(
  `golden cases of ${path("actions")} (skipped where the file is absent)`,
  () => {
    const rows = rowsOf("actions", Action)
    const ofKind = <K extends (typeof Action.Type)["kind"]>(kind: K) =>
      rows.filter((row): row is Extract<typeof Action.Type, { readonly kind: K }> => row.kind === kind)
    const message = invalidAction(ofKind("execute_predictions").flatMap(({ expected }) => expected ?? []))

    it(`are ${counts.actions}, and each belongs to a test below`, () => {
      assert.strictEqual(rows.length, counts.actions)
    })

    it("cuts responses", () => {
      for (const { expected, response } of ofKind("postprocess_responses"))
        assert.strictEqual(SearchR1.cut(response), expected)
    })

    it("reads actions", () => {
      for (const { expected_action, expected_content, prediction } of ofKind("postprocess_predictions"))
        assert.deepStrictEqual(SearchR1.parse(prediction), {
          kind: expected_action ?? "invalid",
          content: expected_content
        })
    })

    it("what the reference refuses as text is not text here either", () => {
      for (const { prediction } of ofKind("postprocess_predictions_error"))
        assert.isFalse(Schema.is(Trajectory.Turn.fields.text)(prediction))
    })

    it("writes passages", () => {
      for (const { expected, retrieval_result } of ofKind("passages2string"))
        assert.strictEqual(
          SearchR1.passagesText(retrieval_result.map((result) => scoredPassage(result).passage)),
          expected
        )
    })

    it.effect("executes predictions", () =>
      Effect.forEach(ofKind("execute_predictions"), (row) =>
        Effect.gen(function* () {
          // Inactive samples are not asked, so what the reference does about their predictions cannot come up.
          const active = row.predictions.flatMap((prediction, i) =>
            row.active_mask[i] === true ? [{ i, prompt: "Q", script: [prediction] }] : []
          )
          const { requests, written } = yield* play(
            active,
            {
              ...searchr1,
              texts: { ...searchr1.texts, prompt: "{instruction}\n{question}", invalidAction: message },
              maxTurns: row.do_search ? 1 : 0,
              topK: row.topk
            },
            row.search_results
          )
          if (row.expected === null) {
            assert.strictEqual(row.expected_error, "AssertionError")
            assert.isTrue(
              row.predictions.some((text, i) => !row.active_mask[i] && SearchR1.parse(text).kind === "search")
            )
            return
          }
          const { expected } = row
          assert.deepStrictEqual(requests, withQueries(row.expected_http_requests))
          written.forEach(({ trajectory }, k) => {
            const { i } = active[k] ?? assert.fail()
            const turn = trajectory.transcript[0] ?? assert.fail()
            assert.strictEqual(turn.action.kind === "answer" ? 1 : 0, expected.dones[i])
            assert.strictEqual(turn.action.kind === "invalid" ? 0 : 1, expected.valid_action[i])
            assert.strictEqual(turn.action.kind === "search" ? 1 : 0, expected.is_search[i])
            // The reference writes an observation for the last turn too, and shows it to nobody.
            if (row.do_search) assert.strictEqual(turn.observation ?? "", expected.next_obs[i])
            else assert.isNull(turn.observation)
          })
        })
      )
    )
  }
)

describe.skipIf(!existsSync(path("loop")))(`golden cases of ${path("loop")} (skipped where the file is absent)`, () => {
  const rows = rowsOf("loop", Loop)

  it(`are ${counts.loop}`, () => {
    assert.strictEqual(rows.length, counts.loop)
  })

  it.effect("writes the same tokens, masks and counts, from the same inputs", () =>
    Effect.forEach(rows, ({ active_traj_num, config, http_requests, name, samples, search_results, turn_trace }) =>
      Effect.gen(function* () {
        const { requests, written } = yield* play(
          samples.map(({ prompt, script }) => ({ prompt: prompt.trimEnd(), script })),
          {
            ...searchr1,
            texts: {
              ...searchr1.texts,
              // The prompts of the cases end with a line break and ask no further question.
              prompt: "{instruction}\n",
              invalidAction: invalidAction(turn_trace)
            },
            maxTurns: config.max_turns,
            maxStartTokens: config.max_start_length,
            maxPromptTokens: config.max_prompt_length,
            maxResponseTokens: config.max_response_length,
            maxObservationTokens: config.max_obs_length,
            topK: config.topk
          },
          search_results
        )
        assert.deepStrictEqual(requests, withQueries(http_requests), name)
        written.forEach(({ inputs, trajectory }, i) => {
          const { expected } = samples[i] ?? assert.fail()
          const { mask, prompt, response, transcript } = trajectory
          assert.deepStrictEqual(inputs, expected.model_inputs, name)
          assert.strictEqual(tokenizer.decode(prompt), expected.final_prompt_text, name)
          assert.deepStrictEqual(response, expected.response_token_ids, name)
          assert.strictEqual(tokenizer.decode(response), expected.response_text, name)
          assert.strictEqual(response.length, expected.response_len, name)
          assert.deepStrictEqual(runs(mask), expected.loss_mask_runs, name)
          assert.deepStrictEqual(
            counters(trajectory, config.max_turns),
            {
              turns: expected.turns_stats,
              validActions: expected.valid_action_stats,
              validSearches: expected.valid_search_stats,
              active: expected.active_at_end
            },
            name
          )
          assert.strictEqual(transcript.length, expected.generations_used, name)
          transcript.forEach(({ action, observation }, turn) => {
            const traced = turn_trace[turn] ?? assert.fail()
            assert.strictEqual(action.kind === "answer" ? 1 : 0, traced.dones[i], name)
            assert.strictEqual(action.kind === "invalid" ? 0 : 1, traced.valid_action[i], name)
            assert.strictEqual(action.kind === "search" ? 1 : 0, traced.is_search[i], name)
            const shown = tokenizer.encode(traced.next_obs[i] ?? "").slice(0, config.max_obs_length)
            if (traced.do_search) assert.strictEqual(observation ?? "", tokenizer.decode(shown), name)
          })
        })
        const active = turn_trace.map(
          (_, turn) => written.filter(({ trajectory }) => trajectory.transcript.length > turn).length
        )
        const left = written.filter(({ trajectory }) => trajectory.finishReason !== "answered").length
        assert.deepStrictEqual([...active, left], active_traj_num, name)
      })
    )
  )
})

describe.skipIf(!existsSync(path("prompts")))(
  `golden cases of ${path("prompts")} (skipped where the file is absent)`,
  () => {
    const rows = rowsOf("prompts", PromptCase)
    it(`are ${counts.prompts}`, () => {
      assert.strictEqual(rows.length, counts.prompts)
    })

    it("prepares questions and writes prompts", () => {
      const text = rows[0]?.expected_row.prompt[0]?.content.split(" Question: ")[0] ?? ""
      for (const { expected_row, input } of rows) {
        const question = SearchR1.question(input.question)
        assert.strictEqual(question, expected_row.question)
        assert.deepStrictEqual(Prompt.messages({ text }, { question }, searchr1), expected_row.prompt)
      }
    })
  }
)

/** The requests that ask for something; the reference also posts empty lists, which nothing depends on. */
const withQueries = (requests: typeof Requests.Type): ReadonlyArray<ReadonlyArray<string>> =>
  requests.map(({ json }) => json.queries).filter((queries) => queries.length > 0)

/** Runs of equal values: each value with its length. */
const runs = (mask: ReadonlyArray<0 | 1>): ReadonlyArray<readonly [0 | 1, number]> => {
  const starts = mask.flatMap((value, i) => (value === mask[i - 1] ? [] : [i]))
  return starts.map((start, i) => [mask[start] ?? 0, (starts[i + 1] ?? mask.length) - start])
}
