/** The verb `compare`: whether a prompt or a model is better than a control, no worse or worse. */
import { type CallContext, compare as comparison, type CompareProgress, type Prompt } from "@inspo/evolve"
import { dollars } from "@inspo/evolve/SearchView"
import { Invariant } from "@inspo/domain"
import { count } from "@inspo/report"
import { Effect, Option, Struct } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Directory from "../evolve/Directory.ts"
import { isJudged, type Job, messages } from "../evolve/Job.ts"
import * as Model from "../evolve/Model.ts"
import * as Outside from "../evolve/Outside.ts"
import * as Progress from "../evolve/Progress.ts"
import * as Scoring from "../evolve/Scoring.ts"
import * as Task from "../evolve/Task.ts"
import { assertMet } from "../Failure.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as CompareTask from "./CompareTask.ts"
import { junit } from "./JUnit.ts"

/** Compares, and leaves its files in a directory. */
export const compare = Effect.fn("Compare.compare")(function* (input: CompareTask.CompareInput) {
  const task = yield* CompareTask.load(input)
  const models = yield* connected(task, input)
  yield* Task.assertPays(task.settings.usd, () =>
    task.jobs.flatMap((job) => task.arms.map((arm) => models.atMost(arm, job)))
  )
  yield* Directory.claim(task.directory, "inspo compare")
  const reporter = yield* Reporter.make(input)
  const result = yield* compared(task, input, models, reporter)
  const { directory } = task
  const { report, ...document } = { directory, ...result }
  const { EvidenceFigure, Report } = yield* Effect.promise(() => import("@inspo/dashboard"))
  yield* replaceFile(`${directory}/result.json`, `${JSON.stringify(document, null, 2)}\n`)
  yield* replaceFile(`${directory}/report.md`, report())
  yield* replaceFile(`${directory}/evidence.svg`, Report.svg(EvidenceFigure.ofComparison(result)))
  if (Option.isSome(input.markdown)) yield* replaceFile(input.markdown.value, report())
  if (Option.isSome(input.junit)) yield* replaceFile(input.junit.value, junit(result))
  yield* Reporter.print(document, () => [
    report(),
    `Files: report.md, evidence.svg, result.json and events.jsonl in ${directory}`
  ])
  if (result.requirement !== null) yield* assertMet(result.requirement, result.isMet)
}, Effect.scoped)

interface Models {
  /** The model that answers; null where an agent outside does. */
  readonly agentOf: (prompt: Prompt) => Model.Model | null
  readonly judge: Model.Model | null
  /** The most that a call and its score can cost. */
  readonly atMost: (prompt: Prompt, job: Job) => number
}

/** The models, after their servers were found. */
const connected = Effect.fnUntraced(function* (task: CompareTask.CompareTask, input: CompareTask.CompareInput) {
  const { agents, jobs, keyOf, outside, priceOf } = task
  const all = new Map<string, Model.Model>()
  const answering = outside === null ? agents : []
  for (const [flag, names] of [
    ["--model", answering],
    ["--judge", task.judge !== null && jobs.some(isJudged) ? [task.judge] : []]
  ] as const)
    for (const name of names) {
      if (all.has(name.text)) continue
      const model = yield* Model.connect(flag, name, priceOf(name), keyOf(name))
      yield* model.find
      all.set(name.text, model)
    }
  const named = (text: string | undefined) => (text === undefined ? null : (all.get(text) ?? null))
  const agentOf = (prompt: Prompt) => named(CompareTask.modelOf(task, prompt)?.text)
  const judge = named(task.judge?.text)
  return {
    agentOf,
    judge,
    atMost: (prompt, job) => Scoring.callAtMost({ agent: agentOf(prompt), judge }, textOf(prompt), job, input.maxTokens)
  } satisfies Models
}, Effect.provide(FetchHttpClient.layer))

const compared = Effect.fnUntraced(function* (
  task: CompareTask.CompareTask,
  input: CompareTask.CompareInput,
  { agentOf, atMost, judge }: Models,
  reporter: Reporter.Reporter
) {
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof Scoring.scoreReply>>>()
  const run = Effect.runPromiseWith(services)
  const { arms, cases, directory, jobs, settings } = task
  const outside =
    task.outside === null
      ? null
      : yield* Outside.connect(task.outside.named, { ...input, log: `${directory}/agent.log` })
  const byCase = new Map(jobs.map((job) => [job.case, job]))
  const jobOf = (one: Job["case"]): Job => Invariant.present(byCase.get(one), "job")
  const isPriced = [judge, ...arms.map(agentOf)].every((model) => model === null || model.price !== null)
  const answer = async (prompt: Prompt, one: Job["case"], { signal, spend }: CallContext): Promise<Scoring.Output> => {
    const model = Invariant.present(agentOf(prompt), "model")
    return run(model.ask(messages(textOf(prompt), jobOf(one)), input.maxTokens, spend), { signal })
  }
  const follow = yield* Progress.following(reporter, { line: (now: CompareProgress) => line(now, isPriced), isDue })
  const [control, ...candidates] = arms
  const result = yield* Effect.tryPromise({
    try: (signal) =>
      comparison<Prompt, Job["case"], Scoring.Output>({
        control,
        candidates,
        cases,
        agent:
          outside === null
            ? answer
            : (prompt, one, context) =>
                run(Outside.ask(outside, CompareTask.modelOf(task, prompt), textOf(prompt), jobOf(one), context), {
                  signal: context.signal
                }),
        score: (output, one, { signal: stop, spend }) =>
          run(Scoring.scoreReply(judge, output, jobOf(one), spend), { signal: stop }),
        // What an agent outside costs is known only from its answers.
        ...(outside === null && isPriced
          ? { atMost: (prompt: Prompt, one: Job["case"]) => atMost(prompt, jobOf(one)) }
          : {}),
        ...(input.workers > 8 ? { concurrency: input.workers } : {}),
        margin: settings.margin,
        samples: settings.samples,
        looks: settings.looks,
        ...(settings.requirement === null ? {} : { requirement: settings.requirement }),
        ...Struct.pick(settings, ["constraints"]),
        budget: {
          ...(settings.calls === null ? {} : { calls: settings.calls }),
          ...(settings.usd === null ? {} : { usd: settings.usd })
        },
        ...Option.match(input.cache, {
          onNone: () => ({}),
          onSome: (cache) => ({ cache: { directory: cache, agent: task.agent } })
        }),
        identity: task.identity,
        file: `${directory}/events.jsonl`,
        randomSeed: settings.randomSeed,
        // The client of a model repeats its requests, and keeps `Retry-After`.
        retries: 0,
        timeoutSeconds: 3600,
        signal,
        onProgress: follow.observe
      }),
    catch: (cause) => Directory.failureOf(cause, directory)
  }).pipe(Effect.onInterrupt(() => reporter.lines([`Stopped; the same command continues in ${directory}.`])))
  yield* follow.end
  return result
})

const textOf = (prompt: Prompt) => (typeof prompt === "string" ? prompt : (prompt["prompt"] ?? ""))

const line = ({ budget, cached, calls, cases, of, usd }: CompareProgress, isPriced: boolean): string =>
  [
    "comparing",
    `${count(calls)} of at most ${count(budget)} calls`,
    `${count(cases)} of ${count(of)} cases`,
    ...(cached === 0 ? [] : [`${count(cached)} from the cache`]),
    ...(isPriced ? [dollars(usd)] : [])
  ].join(" · ")

/** A line of its own at every tenth of the cases, where lines cannot be renewed. */
const isDue = (before: CompareProgress | null, { cases, of }: CompareProgress): boolean =>
  before === null || Math.floor((10 * cases) / of) > Math.floor((10 * before.cases) / of)
