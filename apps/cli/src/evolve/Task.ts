/** What `inspo evolve` is asked for: read from flags and files, and checked, without a request to any server. */
import { createHash } from "node:crypto"
import { parse as parsePath } from "node:path"
import { InvalidInput, Invariant } from "@inspo/domain"
import { Cases, Protected, Sessions, Setup } from "@inspo/evolve/parts"
import { OutsideAgent } from "@inspo/outside"
import { type Learners, ModelName, Prices, type ProposerModel } from "@inspo/reflection"
import { Credentials } from "@inspo/tracking"
import { Effect, Option, Schema } from "effect"
import type { Command } from "effect/cli"
import type * as flags from "../commands/flags.ts"
import { readNamed } from "../config/TextFile.ts"
import { UsageError, usageError } from "../Failure.ts"
import { isJudged, type Job } from "./Job.ts"
import * as Keys from "./Keys.ts"
import * as Outside from "./Outside.ts"
import * as Promptfoo from "./Promptfoo.ts"
import * as Rows from "./Rows.ts"
import * as Template from "./Template.ts"

/** What flags say of cases, scores and models. */
export type JobInput = Command.Command.Config.Infer<
  typeof flags.outside & typeof flags.scoring & typeof flags.paying & Pick<typeof flags, "out" | "quiet" | "seed">
>

export interface EvolveInput extends JobInput {
  readonly prompt: string
  readonly cases: Option.Option<string>
  readonly model: Option.Option<string>
  readonly from: Option.Option<string>
  readonly proposer: Option.Option<string>
  readonly proposerKind: Option.Option<Learners.LearnerName>
  readonly sentences: Option.Option<string>
  readonly examples: boolean
  readonly calls: number
  readonly plan: boolean
  readonly dashboard: boolean
  readonly requirement: Option.Option<"better" | "no-worse">
  readonly aim: "better" | "shorter" | "cheaper"
  readonly margin: number
  readonly saving: number
}

export interface Task {
  readonly prompt: string
  /** Whether cases are demonstrated after the prompt. */
  readonly examples: boolean
  /** Of different cases, each once. */
  readonly jobs: ReadonlyArray<Job>
  /** All cases. */
  readonly cases: ReadonlyArray<Job["case"]>
  readonly repeated: number
  readonly keep: ReadonlyArray<string>
  /** An agent outside, which answers the cases; null if the model does. */
  readonly outside: { readonly text: string; readonly named: OutsideAgent.Named } | null
  /** Answers the cases, or is the one that an agent outside should ask. */
  readonly model: ModelName.ModelName | null
  /** Answers today, and is to be replaced; null if none is. */
  readonly from: ModelName.ModelName | null
  /** Writes prompts, unless there are sentences, and judges; null if neither is asked of a model. */
  readonly proposer: ModelName.ModelName | null
  /** How it learns; null if it does not. */
  readonly proposerKind: Learners.LearnerName | null
  /** The process that started this one writes prompts. */
  readonly isParentProposing: boolean
  /** What may be added to the prompt; null if a model writes prompts. */
  readonly sentences: ReadonlyArray<string> | null
  readonly priceOf: (model: ModelName.ModelName) => ProposerModel.ModelPrice | null
  readonly keyOf: Keys.KeyOf
  readonly setup: Setup.Setup
  /** What the answers and scores depend on besides prompt and cases. */
  readonly identity: Readonly<Record<string, string>>
  readonly directory: string
}

/** Fails with a `UsageError` that names the flag, or the file and the place in it. */
export const load = Effect.fn("Task.load")(function* (input: EvolveInput) {
  const outside = yield* outsideOf(input)
  const { jobs: all, model: configured, prompt } = yield* source(input)
  const first = Option.getOrNull(input.model) ?? (outside === null ? configured : null)
  if (first === null && outside === null)
    return yield* usageError(
      `--model is missing; expected ${ModelName.forms}, or an agent with --agent. ` +
        "Without it, a promptfoo config must name one provider of OpenAI, Anthropic or Google, without settings."
    )
  const sentences = Option.isNone(input.sentences) ? null : yield* sentencesOf(input.sentences.value)
  const isParentProposing = outside?.named.kind === "parent" && Option.contains(input.proposer, "-")
  const second = isParentProposing ? first : Option.getOrElse(input.proposer, () => first)
  const isWriting = (sentences === null && !isParentProposing) || all.some(isJudged)
  if (second === null && isWriting)
    return yield* usageError(
      `--proposer is missing; expected ${ModelName.forms}, which writes prompts and judges, or sentences with --sentences.`
    )
  if (Option.isSome(input.from) && (outside !== null || input.aim !== "better"))
    return yield* usageError("--from names the chat model that --model replaces; expected neither --agent nor --aim.")
  if (Option.isSome(input.from) && Option.contains(input.requirement, "better"))
    return yield* usageError("--require is better; expected no-worse, which is what --from finds.")
  const answering = first === null ? [] : [first, ...Option.toArray(input.from)]
  const models = yield* modelsOf(input, answering, "--proposer", second, isWriting)
  const { keyOf, priceOf, usd, writer: proposer } = models
  const [model = null, from = null] = models.agents
  if (input.aim === "cheaper" && outside === null && model !== null && priceOf(model) === null)
    return yield* usageError(
      `--aim is cheaper, and the price of ${model.model} is not known; expected --price IN/OUT, such as --price 0.4/1.6.`
    )
  const what = from === null ? input.aim : "no-worse"
  const { cases, jobs, repeated } = distinct(all)
  const setup = yield* checked(() =>
    Setup.begin({
      prompt,
      cases: jobs.length,
      guarded: Protected.indices(jobs.map((job) => job.case)),
      sessions: Sessions.of(jobs.map((job) => job.case)),
      calls: input.calls,
      usd,
      minimalGain: 0.1,
      aim: what === "better" ? undefined : { what, margin: input.margin, saving: input.saving },
      randomSeed: Option.getOrElse(input.seed, () => 1)
    })
  )
  return {
    prompt,
    examples: input.examples,
    jobs,
    cases,
    repeated,
    outside,
    isParentProposing,
    keep: jobs.some(({ asked }) => "variables" in asked) ? Template.placeholders(prompt) : [],
    model,
    from,
    proposer,
    proposerKind: Option.getOrNull(input.proposerKind),
    sentences,
    priceOf,
    keyOf,
    setup,
    identity: {
      ...(model === null ? {} : { "--model": model.text }),
      ...(from === null ? {} : { "--from": from.text }),
      ...(outside === null ? { "--max-tokens": String(input.maxTokens) } : { "--agent": outside.text }),
      ...scoreIdentity(jobs, "--proposer", proposer)
    },
    directory: Option.getOrElse(input.out, () => `runs/evolve-${parsePath(input.prompt).name}`)
  } satisfies Task
})

/** The budget must pay at least one call, of which each can cost so much. */
export const assertPays = (usd: number | null, costs: () => ReadonlyArray<number>): Effect.Effect<void, UsageError> => {
  if (usd === null) return Effect.void
  const most = costs().reduce((one, other) => Math.max(one, other), 0)
  return most <= usd
    ? Effect.void
    : Effect.fail(
        usageError(
          `--budget is ${usd}; expected at least ${most.toPrecision(2)} US dollars, the most that one call with its score can cost. ` +
            "Raise it, or lower --max-tokens."
        )
      )
}

/** The different jobs, each once, and how many repeat one. */
export const distinct = (all: ReadonlyArray<Job>): Pick<Task, "jobs" | "cases" | "repeated"> => {
  const cases = all.map((job) => job.case)
  const { distinct: different, repeated } = Setup.distinct(cases)
  const byCase = new Map(all.map((job) => [job.case, job]))
  return { jobs: different.map((one) => Invariant.present(byCase.get(one), "job")), cases, repeated }
}

/** What scores depend on; `flag` names the model that judges. */
export const scoreIdentity = (
  jobs: ReadonlyArray<Job>,
  flag: string,
  judge: ModelName.ModelName | null
): Readonly<Record<string, string>> => ({
  "--score": digest(jobs.map(({ checks }) => checks)),
  ...(jobs.some(isJudged) && judge !== null ? { [flag]: judge.text } : {})
})

/**
 * The models that answer, and the one of `flag` that writes or judges, if it does, with their prices, their keys and the budget
 * in US dollars. An agent outside asks models itself.
 */
export const modelsOf = Effect.fnUntraced(function* (
  input: JobInput,
  agents: ReadonlyArray<string>,
  flag: string,
  second: string | null,
  isWriting: boolean
) {
  const models = yield* Effect.forEach(agents, (text) => named("--model", text))
  const writer = second === null ? null : yield* named(flag, second)
  const [first, ...others] = [...models, writer].filter((name) => name !== null)
  const known = first === undefined ? [] : [first, ...others]
  const keyOf = yield* checked((): Keys.KeyOf =>
    first === undefined ? () => null : Keys.read(input.apiKeyEnv, first, ...others)
  )
  const own = yield* pricesOf(input.price, known)
  const priceOf = (name: ModelName.ModelName) => Prices.priceOf(name.model, own)
  const usd = Option.getOrNull(input.budget)
  const priced = Option.isNone(input.agent) ? known : isWriting && writer !== null ? [writer] : []
  const unpriced = priced.find((name) => priceOf(name) === null)
  if (usd !== null && unpriced !== undefined)
    return yield* usageError(
      `--budget is ${usd}, and the price of ${unpriced.model} is not known; expected --price IN/OUT, its US dollars per million ` +
        "tokens of input and output, such as --price 0.4/1.6, or --price 0/0 for a model of your own."
    )
  if (!(Number.isSafeInteger(input.maxTokens) && input.maxTokens > 0))
    return yield* usageError(`--max-tokens is ${input.maxTokens}; expected a whole number above 0.`)
  return { agents: models, writer, keyOf, priceOf, usd }
})

/** The models that a search asks: its agent, and the one that writes prompts or judges, if any does. */
export const paid = ({
  from,
  isParentProposing,
  jobs,
  model,
  outside,
  proposer,
  sentences
}: Pick<
  Task,
  "from" | "isParentProposing" | "jobs" | "model" | "outside" | "proposer" | "sentences"
>): ReadonlyArray<ModelName.ModelName> =>
  [
    outside === null ? model : null,
    from,
    (sentences === null && !isParentProposing) || jobs.some(isJudged) ? proposer : null
  ].filter((name) => name !== null)

/** The agent outside that `--agent` names; null without one. */
export const outsideOf = Effect.fnUntraced(function* ({ agent, timeout, workers }: JobInput) {
  if (Option.isNone(agent)) return null
  const text = agent.value.trim()
  const named = OutsideAgent.parse(text)
  if (Option.isNone(named)) return yield* usageError(`--agent is ${JSON.stringify(text)}; expected ${Outside.forms}.`)
  if (!(Number.isSafeInteger(workers) && workers > 0 && workers <= 64))
    return yield* usageError(`--workers is ${workers}; expected a whole number from 1 to 64.`)
  if (!(timeout > 0)) return yield* usageError(`--timeout is ${timeout}; expected seconds above 0.`)
  return { text: Credentials.withoutCredentials(text), named: named.value }
})

const source = Effect.fnUntraced(function* (input: EvolveInput) {
  const text = yield* readNamed(input.prompt)
  const cases = Option.getOrNull(input.cases)
  if (/\.(ya?ml|json)$/iu.test(input.prompt)) {
    if (input.examples)
      return yield* usageError(`--examples is given with a promptfoo config; expected a text file with the prompt.`)
    if (cases !== null || Option.isSome(input.score))
      return yield* usageError(
        `${input.prompt} is read as a promptfoo config, which has its own tests and assertions; expected no file of cases and no --score.`
      )
    return yield* checked(() => Promptfoo.parse(input.prompt, text))
  }
  const kind = Option.getOrNull(input.score)
  if (input.examples && (kind === "label" || kind === "pattern"))
    return yield* usageError(
      `--examples is given with --score ${kind}; expected another score: what these cases expect is no answer to show.`
    )
  if (cases === null)
    return yield* usageError(
      "The file of cases is missing; expected a CSV, TSV or JSONL file after the prompt, or a promptfoo config instead."
    )
  const prompt = text.trimEnd()
  if (prompt === "") return yield* usageError(`${input.prompt} is empty; expected the prompt to improve.`)
  return { prompt, model: null, jobs: yield* jobsOf(cases, input) }
})

export const jobsOf = Effect.fnUntraced(function* (cases: string, input: JobInput) {
  const isOutside = Option.isSome(input.agent)
  const scoring = isOutside && Option.isNone(input.score) ? null : yield* scoringOf(input)
  const content = yield* readNamed(cases)
  return yield* checked(() => {
    const rows = parseRows(cases, content)
    const values = valuesOf(cases, content)
    const columns = {
      input: Option.getOrNull(input.input),
      expected: Option.getOrElse(input.expected, () => (scoring?.kind === "label" ? "label" : "expected")),
      isWhole: isOutside
    }
    if (scoring?.kind === "label") return Rows.labelled(cases, rows, columns)
    return Rows.jobs(cases, rows, columns, scoring).map((job, place) => ({ ...job, ...values[place], place }))
  })
})

const sentencesOf = Effect.fnUntraced(function* (file: string) {
  const sentences = (yield* readNamed(file)).split("\n").flatMap((line) => line.trim() || [])
  return sentences.length > 0
    ? sentences
    : yield* usageError(`--sentences is ${file}, which is empty; expected a sentence in each line.`)
})

const scoringOf = Effect.fnUntraced(function* (input: JobInput) {
  const missing = (flag: string, expected: string) => usageError(`${flag} is missing; expected ${expected}.`)
  const kind = Option.getOrNull(input.score)
  switch (kind) {
    case null:
      return yield* missing("--score", "exact, contains, pattern, json, number, judge, command or label")
    case "judge": {
      if (Option.isNone(input.rubric)) return yield* missing("--rubric", "a file that says what a good answer is")
      return { kind, rubric: yield* readNamed(input.rubric.value) } satisfies Rows.Scoring
    }
    case "command": {
      const [program, ...args] = Option.getOrElse(input.command, () => "")
        .split(/\s+/u)
        .filter(Boolean)
      if (program === undefined)
        return yield* missing("--command", 'a program with its arguments, such as --command "python3 score.py"')
      return { kind, command: [program, ...args] } satisfies Rows.Scoring
    }
    case "label":
      return Option.isSome(input.agent)
        ? yield* usageError(
            "--score label is given with --agent; expected --model, a chat model that judges by the prompt."
          )
        : ({ kind } as const)
    case "exact":
    case "contains":
      return { kind: "built-in", scorer: { kind, isCaseSensitive: input.caseSensitive } } satisfies Rows.Scoring
    case "number":
      if (!(input.tolerance >= 0))
        return yield* usageError(`--tolerance is ${input.tolerance}; expected a number of at least 0.`)
      return { kind: "built-in", scorer: { kind, tolerance: input.tolerance } } satisfies Rows.Scoring
    default:
      return { kind: "built-in", scorer: { kind } } satisfies Rows.Scoring
  }
})

const named = (flag: string, text: string) => {
  const name = ModelName.parse(text)
  return name === null
    ? Effect.fail(usageError(`${flag} is ${text}; expected ${ModelName.forms}.`))
    : Effect.succeed(name)
}

/** The prices of `--price`: `IN/OUT` is that of every model of the search, `MODEL=IN/OUT` that of one. */
const pricesOf = (given: ReadonlyArray<string>, models: ReadonlyArray<ModelName.ModelName>) =>
  Effect.map(
    Effect.forEach(given, (text) => {
      const [, one, input = "", output = ""] = /^(?:(.+)=)?(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/u.exec(text) ?? []
      return input === ""
        ? Effect.fail(
            usageError(
              `--price is ${text}; expected IN/OUT or MODEL=IN/OUT in US dollars per million tokens, such as 0.4/1.6.`
            )
          )
        : Effect.succeed(
            (one === undefined ? models.map(({ model }) => model) : [one]).map((model) => ({
              model,
              input: Number(input),
              output: Number(output)
            }))
          )
    }),
    (rows) => rows.flat()
  )

/** Runs a pure check; what it throws names the flag or the place in a file. */
export const checked = <A>(check: () => A): Effect.Effect<A, UsageError> =>
  Effect.try({
    try: check,
    catch: (cause) => {
      if (cause instanceof UsageError) return cause
      if (!(cause instanceof InvalidInput.InvalidInput)) return usageError(messageOf(cause), cause)
      const { expected, field, value } = cause
      return usageError(`${InvalidInput.sentence({ field: flagOf[field] ?? field, value, expected })}.`, cause)
    }
  })

const flagOf: Readonly<Record<string, string>> = {
  "budget.calls": "--calls",
  "budget.usd": "--budget",
  cases: "the number of different cases",
  constraints: "--at-most",
  file: "the file of cases",
  margin: "--margin",
  saving: "--saving",
  samples: "--samples"
}

const messageOf = (cause: unknown): string => `${cause instanceof Error ? cause.message : String(cause)}.`

const parseRows = (file: string, text: string): ReadonlyArray<Rows.Row> => {
  try {
    return Cases.parseFile(file, text)
  } catch (cause) {
    if (cause instanceof InvalidInput.InvalidInput) throw cause
    throw usageError(`${file}: ${messageOf(cause)}`, cause)
  }
}

/** The cases of a JSONL file with their values as they are; of another file, their texts. */
const valuesOf = (file: string, text: string): ReadonlyArray<Pick<Job, "row">> =>
  /\.(jsonl|ndjson)$/iu.test(file)
    ? text
        .replace(/^\uFEFF/u, "")
        .split("\n")
        .flatMap((line) => (line.trim() === "" ? [] : [{ row: decodeJson(line) }]))
    : []

const decodeJson = Schema.decodeSync(Schema.fromJsonString(Schema.Json))

const digest = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex")
