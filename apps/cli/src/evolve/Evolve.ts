/** The verb `evolve`: a better prompt for a chat model, from test cases. */
import { plural } from "@inspo/report"
import { Prices, ProposerError } from "@inspo/reflection"
import type { Provider } from "@inspo/reflection/models"
import { Invariant } from "@inspo/domain"
import {
  type CallContext,
  type Complete,
  type Completion,
  evolve as search,
  type Progress as SearchProgress
} from "@inspo/evolve"
import { Viewing } from "@inspo/evolve/parts"
import { Effect, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { assertMet, type CommandFailure, type UsageError } from "../Failure.ts"
import { beside } from "../dashboard/Beside.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Directory from "./Directory.ts"
import { isJudged, type Job, messages } from "./Job.ts"
import * as Model from "./Model.ts"
import * as Outside from "./Outside.ts"
import * as Plan from "./Plan.ts"
import * as Progress from "./Progress.ts"
import * as Scoring from "./Scoring.ts"
import * as Task from "./Task.ts"

/** Plans or makes a search, and leaves its files in a directory. */
export const evolve = Effect.fn("Evolve.evolve")(function* (input: Task.EvolveInput) {
  const task = yield* Task.load(input)
  const { model, outside, priceOf, proposer } = task
  if (input.plan) {
    const priced = (name: typeof model) => ({ model: name?.text ?? "", price: name === null ? null : priceOf(name) })
    const plan = Plan.make({
      ...task,
      maxTokens: input.maxTokens,
      agent: priced(model),
      outside: outside === null ? null : outsideOf(outside, input.workers),
      proposer: priced(proposer),
      isProposing: task.sentences === null && !task.isParentProposing
    })
    return yield* Reporter.print(plan, (columns) => [...Plan.lines(plan, columns), ...graderOf(task)])
  }
  const models = yield* connected(task)
  const { agent, writer: judge } = models
  const costOf = (job: Job) => Scoring.callAtMost({ agent, judge }, task.prompt, job, input.maxTokens)
  yield* Task.assertPays(task.setup.usd, () => task.jobs.map(costOf))
  yield* Directory.claim(task.directory, "inspo evolve")
  const reporter = yield* Reporter.make(input)
  const unpriced = Prices.unknown(
    Task.paid(task).flatMap((name) => (priceOf(name) === null ? [name.model] : [])),
    "give it with --price IN/OUT"
  )
  if (unpriced !== null) yield* reporter.lines([unpriced])
  yield* reporter.lines(graderOf(task))
  if (input.dashboard) yield* beside(task.directory, reporter)
  const { ends, result } = yield* searched(task, input, models, reporter)
  const { directory } = task
  const document = {
    directory,
    ...(outside === null ? {} : { agent: outside.text }),
    model: model?.text ?? null,
    proposer: task.sentences !== null || task.isParentProposing ? null : (proposer?.text ?? null),
    ...result,
    prompt: whole(result.prompt)
  }
  yield* replaceFile(`${directory}/best_prompt.txt`, `${document.prompt}\n`)
  yield* replaceFile(`${directory}/result.json`, `${JSON.stringify(document, null, 2)}\n`)
  yield* replaceFile(`${directory}/report.md`, result.report())
  const { view } = yield* Effect.mapError(Viewing.read(`${directory}/events.jsonl`), (cause) =>
    Directory.failureOf(cause, directory)
  )
  if (view.test !== null) {
    const { EvidenceFigure, Report } = yield* Effect.promise(() => import("@inspo/dashboard"))
    yield* replaceFile(`${directory}/evidence.svg`, Report.svg(EvidenceFigure.ofTest(view.test, view.aim)))
  }
  yield* Reporter.print(document, () => [
    result.report(),
    ...noteOf(ends, input.maxTokens),
    `Files: report.md, ${view.test === null ? "" : "evidence.svg, "}best_prompt.txt, result.json and events.jsonl in ${directory}`
  ])
  // The prompt in use is the one that was given, unless another one is shown to be better, or what it is to be: it is never worse.
  if (task.from !== null && Option.isSome(input.requirement))
    yield* assertMet(
      input.requirement.value,
      result.verdict === "no-worse" || ((result.gain?.upper ?? 1) < -input.margin ? false : null)
    )
  else if (Option.isSome(input.requirement) && input.requirement.value === "better")
    yield* assertMet("better", result.verdict === "no-headroom" ? false : result.verdict === "undecided" ? null : true)
}, Effect.scoped)

const outsideOf = ({ named, text }: NonNullable<Task.Task["outside"]>, workers: number): string =>
  named.kind === "program"
    ? `runs the program ${text}${workers === 1 ? "" : `, ${workers} times`}`
    : named.kind === "endpoint"
      ? `connects to ${text}`
      : named.kind === "function"
        ? `loads ${text} into this process`
        : "the process that started this one"

/** The models, after their servers were found. */
const connected = Effect.fnUntraced(function* ({ from, keyOf, model, outside, priceOf, proposer }: Task.Task) {
  const connect = (flag: string, name: typeof model) =>
    name === null ? Effect.succeed(null) : Model.connect(flag, name, priceOf(name), keyOf(name))
  const agent = outside === null ? yield* connect("--model", model) : null
  const writer = yield* connect("--proposer", proposer)
  const before = yield* connect("--from", from)
  if (before !== null) yield* before.find
  if (agent !== null) yield* agent.find
  if (writer !== null && writer.name.text !== agent?.name.text) yield* writer.find
  return { agent, writer, before }
}, Effect.provide(FetchHttpClient.layer))

/** Null where no model is asked. */
interface Models {
  readonly agent: Model.Model | null
  readonly writer: Model.Model | null
  /** The one that is replaced. */
  readonly before: Model.Model | null
}

const searched = Effect.fnUntraced(function* (
  task: Task.Task,
  input: Task.EvolveInput,
  { agent, before, writer }: Models,
  reporter: Reporter.Reporter
) {
  const outside =
    task.outside === null
      ? null
      : yield* Outside.connect(task.outside.named, { ...input, log: `${task.directory}/agent.log` })
  const { maxTokens, workers } = input
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof Scoring.score>>>()
  const run = Effect.runPromiseWith(services)
  const isPriced = [agent, before, writer].every((model) => model === null || model.price !== null)
  const follow = yield* Progress.following(reporter, {
    line: (progress: SearchProgress) => Progress.line(progress, isPriced),
    isDue: Progress.isDue
  })
  const byCase = new Map(task.jobs.map((job) => [job.case, job]))
  const jobOf = (one: Job["case"]): Job => Invariant.present(byCase.get(one), "job")
  const ends = { cut: 0, refused: 0 }
  const answerOf =
    (by: Model.Model | null) =>
    async (prompt: Given, one: Job["case"], { signal, spend }: CallContext) => {
      const asking = Invariant.present(by, "model").ask(messages(whole(prompt), jobOf(one)), maxTokens, spend)
      const { end, text } = await run(asking, { signal })
      if (end === "done") return text
      ends[end] += 1
      return { end, text }
    }
  const atMostOf = (by: Model.Model | null) => (prompt: Given, one: Job["case"]) =>
    Scoring.callAtMost({ agent: by, judge: writer }, whole(prompt), jobOf(one), maxTokens)
  const result = yield* Effect.tryPromise({
    try: (signal) =>
      search<Given, Job["case"], Scoring.Output>({
        prompt: task.examples ? { prompt: task.prompt, examples: heading } : task.prompt,
        cases: task.cases,
        agent:
          outside === null
            ? answerOf(agent)
            : (prompt, one, context) =>
                run(Outside.ask(outside, task.model, whole(prompt), jobOf(one), context), { signal: context.signal }),
        score: (output, one, { signal: stop, spend }) =>
          run(Scoring.scoreReply(writer, output, jobOf(one), spend), { signal: stop }),
        proposer:
          task.sentences ??
          ((request, context) => {
            const { signal: stop, spend, usd } = context
            return task.isParentProposing && outside?.propose !== undefined
              ? run(outside.propose(request, usd, spend), { signal: stop })
              : run(propose(Invariant.present(writer, "proposer"), request, context), { signal: stop })
          }),
        ...(task.proposerKind === null ? {} : { proposerKind: task.proposerKind }),
        // What an agent outside costs is known only from its answers.
        ...(agent !== null && isPriced ? { atMost: atMostOf(agent) } : {}),
        ...(writer !== null && isPriced
          ? {
              proposalAtMost: (request: string, left: number | null) =>
                writer.atMost(asked(request), proposalTokens(writer, request, left)) ?? 0
            }
          : {}),
        keep: task.keep,
        identity: task.identity,
        file: `${task.directory}/events.jsonl`,
        ...settingsOf(task.setup),
        ...controlOf(before, task.prompt, answerOf(before), isPriced ? atMostOf(before) : null),
        // The client of a model repeats its requests, and keeps `Retry-After`; so does that of an agent outside.
        retries: 0,
        ...(workers > 8 ? { concurrency: workers } : {}),
        timeoutSeconds: 3600,
        signal,
        onProgress: follow.observe
      }),
    catch: (cause) => failureOf(cause, task.directory)
  }).pipe(Effect.onInterrupt(() => reporter.lines([`Stopped; the same command continues in ${task.directory}.`])))
  yield* follow.end
  return { ends, result }
})

/** The prompt of a search, with the demonstrations after it if there may be some. */
type Given = string | { readonly prompt: string; readonly examples: string }

/** The prompt as agents get it. */
const whole = (given: Given): string =>
  typeof given === "string" ? given : given.examples === heading ? given.prompt : `${given.prompt}\n\n${given.examples}`

const heading = "Examples:"

/** What answers today, and is to be replaced. */
const controlOf = (
  before: Model.Model | null,
  prompt: string,
  answer: (prompt: string, one: Job["case"], context: CallContext) => Promise<Scoring.Output>,
  atMost: ((prompt: string, one: Job["case"]) => number) | null
) =>
  before === null
    ? {}
    : {
        control: {
          agent: (one: Job["case"], context: CallContext) => answer(prompt, one, context),
          ...(atMost === null ? {} : { atMost: (one: Job["case"]) => atMost(prompt, one) })
        }
      }

const settingsOf = ({ aim, calls, minimalGain, randomSeed, usd }: Task.Task["setup"]) => ({
  minimalGain,
  randomSeed,
  budget: { calls, ...(usd === null ? {} : { usd }) },
  ...(aim === undefined ? {} : { margin: aim.margin, saving: aim.saving }),
  ...(aim === undefined || aim.what === "no-worse" ? {} : { aim: aim.what })
})

/** A proposal, as long as the rest of the budget allows. */
const propose = (
  writer: Model.Model,
  request: string,
  { spend, usd }: Parameters<Complete>[1]
): Effect.Effect<Completion, Model.ModelFailed> =>
  writer.ask(asked(request), proposalTokens(writer, request, usd), spend)

/** The most tokens of a proposal that what is left pays; the fewest that are of use, if it pays none. */
const proposalTokens = (writer: Model.Model, request: string, left: number | null): number => {
  const pays = (tokens: number) => left === null || (writer.atMost(asked(request), tokens) ?? 0) <= left
  return [Plan.proposalOutput, 8192, 4096].find(pays) ?? 2048
}

const asked = (request: string): ReadonlyArray<Provider.Message> => [{ role: "user", text: request }]

const failureOf = (cause: unknown, directory: string): UsageError | CommandFailure =>
  Directory.failureOf(
    cause,
    directory,
    cause instanceof ProposerError && ["no-candidates", "refused", "empty"].includes(cause.failure.kind)
      ? " Name another model with --proposer, or give sentences with --sentences."
      : ""
  )

/** What a promptfoo config cannot have here: promptfoo's own grader. */
const graderOf = ({ jobs, proposer }: Task.Task): ReadonlyArray<string> =>
  jobs.some((job) => "variables" in job.asked && isJudged(job))
    ? [`llm-rubric: ${proposer?.text} grades, asked in inspo's words; the grader of promptfoo can give other scores.`]
    : []

const noteOf = ({ cut, refused }: Readonly<Record<"cut" | "refused", number>>, maxTokens: number) =>
  [
    cut > 0 && `${plural(cut, "answer")} cut at --max-tokens ${maxTokens}, and scored like the others.`,
    refused > 0 && `${plural(refused, "answer")} refused by the model or its provider.`
  ].filter((note) => note !== false)
