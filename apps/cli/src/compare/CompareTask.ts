/** What `inspo compare` is asked for: read from flags, files and commits, and checked, without a request to any server. */
import { parse as parsePath } from "node:path"
import type { CompareOptions, Prompt } from "@inspo/evolve"
import { Comparison, Protected } from "@inspo/evolve/parts"
import { ModelName, type ProposerModel } from "@inspo/reflection"
import { Array as Arr, Effect, FileSystem, Option, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { readNamed } from "../config/TextFile.ts"
import * as Promptfoo from "../evolve/Promptfoo.ts"
import { isJudged, type Job } from "../evolve/Job.ts"
import type * as Keys from "../evolve/Keys.ts"
import * as Task from "../evolve/Task.ts"
import { usageError } from "../Failure.ts"

export interface CompareInput extends Task.JobInput, Required<Pick<CompareOptions<Prompt, Job, string>, "looks">> {
  readonly prompts: ReadonlyArray<string>
  readonly cases: string
  readonly model: ReadonlyArray<string>
  readonly judge: Option.Option<string>
  readonly margin: number
  readonly samples: number
  readonly requirement: Option.Option<"better" | "no-worse">
  readonly atMost: ReadonlyArray<string>
  readonly aa: boolean
  readonly cache: Option.Option<string>
  readonly calls: Option.Option<number>
  readonly junit: Option.Option<string>
  readonly markdown: Option.Option<string>
}

export interface CompareTask {
  /** The control first. With several models, a prompt says which answers. */
  readonly arms: Arr.NonEmptyReadonlyArray<Prompt>
  readonly jobs: ReadonlyArray<Job>
  /** All cases, of which the jobs are the different ones. */
  readonly cases: ReadonlyArray<Job["case"]>
  /** An agent outside, which answers the cases; null if models do. */
  readonly outside: Task.Task["outside"]
  /** They answer the cases, or are those that an agent outside should ask. */
  readonly agents: ReadonlyArray<ModelName.ModelName>
  readonly judge: ModelName.ModelName | null
  readonly priceOf: (model: ModelName.ModelName) => ProposerModel.ModelPrice | null
  readonly keyOf: Keys.KeyOf
  readonly settings: Comparison.Settings
  /** What answers depend on besides prompt, model and case, and what scores depend on. */
  readonly agent: Readonly<Record<string, string>>
  readonly identity: Readonly<Record<string, string>>
  readonly directory: string
}

/** Fails with a `UsageError` that names the flag, or the file and the place in it. */
export const load = Effect.fn("CompareTask.load")(function* (input: CompareInput) {
  const prompts = yield* Effect.forEach(input.prompts, promptOf)
  if (!Arr.isReadonlyArrayNonEmpty(prompts))
    return yield* usageError("The prompt is missing; expected a text file, git:REV:PATH or a text.")
  const { jobs: all, model: configured } = yield* source(input, prompts)
  const outside = yield* Task.outsideOf(input)
  const models = input.model.length > 0 || outside !== null || configured === null ? input.model : [configured]
  const [first = null] = models
  if (first === null && outside === null)
    return yield* usageError(`--model is missing; expected ${ModelName.forms}, or an agent with --agent.`)
  const second = Option.getOrElse(input.judge, () => first)
  const isJudging = all.some(isJudged)
  if (isJudging && second === null) return yield* usageError(`--judge is missing; expected ${ModelName.forms}.`)
  const { agents, keyOf, priceOf, usd, writer } = yield* Task.modelsOf(input, models, "--judge", second, isJudging)
  const arms = yield* armsOf(input, prompts, agents)
  const { cases, jobs } = Task.distinct(all)
  const own = input.atMost.length === 0 ? {} : { constraints: input.atMost }
  const guarded = Protected.indices(jobs.map((job) => job.case))
  const settings = yield* Task.checked(
    () =>
      Comparison.make(
        {
          arms,
          samples: input.samples,
          ...own,
          margin: input.margin,
          looks: input.looks,
          requirement: Option.getOrNull(input.requirement),
          calls: Option.getOrNull(input.calls),
          usd,
          randomSeed: Option.getOrElse(input.seed, () => 1)
        },
        jobs.length,
        guarded
      ).settings
  )
  const [only] = agents
  const agent = {
    ...(agents.length > 1 || only === undefined ? {} : { "--model": only.text }),
    ...(outside === null ? { "--max-tokens": String(input.maxTokens) } : { "--agent": outside.text })
  }
  return {
    arms,
    settings,
    jobs,
    cases,
    outside,
    agents,
    judge: writer,
    priceOf,
    keyOf,
    agent,
    identity: { ...agent, ...Task.scoreIdentity(jobs, "--judge", writer) },
    directory: Option.getOrElse(input.out, () => `runs/compare-${nameOf(input.prompts[0] ?? "")}`)
  } satisfies CompareTask
})

/** The model that answers under a prompt; null if an agent outside chooses its own. */
export const modelOf = ({ agents }: Pick<CompareTask, "agents">, prompt: Prompt): ModelName.ModelName | null => {
  const text = typeof prompt === "string" ? undefined : prompt["model"]
  return agents.find((one) => text === undefined || one.text === text) ?? null
}

const armsOf = ({ aa }: CompareInput, prompts: Arr.NonEmptyReadonlyArray<string>, agents: CompareTask["agents"]) => {
  const [prompt, ...others] = prompts
  const refuse = (problem: string) => Effect.fail(usageError(problem))
  if (agents.length > 1 && others.length > 0)
    return refuse(
      `${prompts.length} prompts and ${agents.length} models were given; expected several prompts and one --model, or one prompt and several models.`
    )
  if (aa)
    return others.length > 0 || agents.length > 1
      ? refuse("--aa compares a prompt with itself; expected one prompt and one --model.")
      : Effect.succeed([prompt, prompt] as const)
  const [one, ...more] = agents.map(({ text }) => ({ prompt, model: text }))
  if (one !== undefined && more.length > 0) return Effect.succeed([one, ...more] as const)
  return others.length > 0
    ? Effect.succeed(prompts)
    : refuse("There is one prompt and one model; expected a second prompt, a second --model, or --aa.")
}

/** The cases of a file of rows, or the tests of a promptfoo config. */
const source = Effect.fnUntraced(function* (input: CompareInput, prompts: ReadonlyArray<string>) {
  const { cases } = input
  if (!/\.(ya?ml|json)$/iu.test(cases)) return { jobs: yield* Task.jobsOf(cases, input), model: null }
  if (Option.isSome(input.score))
    return yield* usageError(
      `${cases} is read as a promptfoo config, which has its own assertions; expected no --score.`
    )
  const text = yield* readNamed(cases)
  return yield* Task.checked(() => Promptfoo.parse(cases, text, prompts))
})

/** A prompt: of a commit, of a file, or as it is written. */
const promptOf = Effect.fnUntraced(function* (given: string) {
  const fs = yield* FileSystem.FileSystem
  const [, revision, path] = /^git:([^:]+):(.+)$/su.exec(given) ?? []
  const isFile = yield* Effect.orElseSucceed(fs.exists(given), () => false)
  const text = (
    revision !== undefined && path !== undefined
      ? yield* committed(given, revision, path)
      : isFile || !/\s/u.test(given)
        ? yield* readNamed(given)
        : given
  ).trimEnd()
  return text === "" ? yield* usageError(`${given || '""'} is empty; expected a prompt.`) : text
})

const committed = Effect.fnUntraced(function* (given: string, revision: string, path: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const failed = (detail: string) =>
    usageError(`${given} cannot be read: ${detail}; expected git:REV:PATH of this repository.`)
  if (revision.startsWith("-")) return yield* failed("a revision does not begin with a hyphen")
  const { code, text, trouble } = yield* Effect.gen(function* () {
    const child = yield* spawner.spawn(ChildProcess.make("git", ["show", `${revision}:${path}`]))
    const read = (bytes: typeof child.stdout) => Stream.mkString(Stream.decodeText(bytes))
    const [text, trouble, code] = yield* Effect.all([read(child.stdout), read(child.stderr), child.exitCode], {
      concurrency: "unbounded"
    })
    return { code, text, trouble }
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) => failed(error.message))
  )
  return code === 0 ? text : yield* failed(trouble.trim().split("\n")[0] ?? `git ends with exit code ${code}`)
})

const nameOf = (given: string): string =>
  /\s/u.test(given) ? "prompt" : parsePath(given.replace(/^git:[^:]+:/u, "")).name || "prompt"
