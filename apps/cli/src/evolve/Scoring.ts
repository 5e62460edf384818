import type { Scored } from "@inspo/evolve"
import { Judged, Scorers } from "@inspo/evolve/parts"
import { Invariant, PlainText } from "@inspo/domain"
import { ChildProgram, type OutsideAgent } from "@inspo/outside"
import { Effect, Schema, Struct } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { type Check, type Job, messages } from "./Job.ts"
import type { Answer, Model, ModelFailed } from "./Model.ts"
import * as PromptfooScore from "./PromptfooScore.ts"

/** An output could not be scored; it is kept, and scored when the search continues. */
export class ScoringFailed extends Schema.TaggedError<ScoringFailed>()("ScoringFailed", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** What an agent answered: a text, what there was of one that was cut or refused, or a reply that has a score or feedback. */
export type Output = string | Answer | OutsideAgent.Reply

/** The checks of a job decide; without any, the score that the agent gave itself. Its feedback stays where the checks have none. */
export const scoreReply = Effect.fnUntraced(function* (
  judge: Model | null,
  output: Output,
  job: Job,
  spend: (usd: number) => void
) {
  if (typeof output === "string") return yield* score(judge, output, job, spend)
  if ("text" in output) {
    const found = yield* score(judge, output.text, job, spend)
    return output.tokens === undefined ? found : { ...found, metrics: { tokens: output.tokens, ...found.metrics } }
  }
  const said = Struct.pick(output, ["feedback", "metrics"])
  if (job.checks.length === 0 && output.score !== undefined) return { score: output.score, ...said }
  return { ...said, ...(yield* score(judge, textOf(output.output), job, spend)) }
})

/** An output as it is scored. */
export const textOf = (output: Schema.Json): string => (typeof output === "string" ? output : JSON.stringify(output))

/** The mean of the checks of a job by their weights, 0 if these are. `spend` gets what a judge cost in US dollars. */
export const score = Effect.fn("Scoring.score")(function* (
  judge: Model | null,
  output: string,
  job: Job,
  spend: (usd: number) => void
) {
  if (job.checks.length === 0)
    return yield* new ScoringFailed({
      problem: `the agent answered without a score; give one in its answers, or how they are scored with --score`
    })
  const found = yield* Effect.forEach(job.checks, (check) => scoreOf(judge, output, job, check, spend))
  const weights = job.checks.map((check) => ("weight" in check ? (check.weight ?? 1) : 1))
  const weight = weights.reduce((sum, one) => sum + one, 0)
  const total = found.reduce((sum, one, index) => sum + one.score * (weights[index] ?? 1), 0)
  return { ...Scorers.mean(found), score: weight > 0 ? total / weight : 0 }
})

/** The most that an answer of so many tokens can cost with its score; what has no known price counts as nothing. */
export const callAtMost = (
  { agent, judge }: { readonly agent: Model | null; readonly judge: Model | null },
  prompt: string,
  job: Job,
  tokens: number
): number => {
  const verdicts = job.checks.map((check) => {
    if (check.kind !== "judge") return 0
    const asked = conversation(check.rubric, "x".repeat(charactersPerToken * tokens), job)
    return judge?.atMost(asked, maxVerdictTokens) ?? 0
  })
  return verdicts.reduce((sum, one) => sum + attempts * one, agent?.atMost(messages(prompt, job), tokens) ?? 0)
}

const charactersPerToken = 3

export const maxVerdictTokens = 2048

/** How often a judge is asked whose verdict cannot be read. */
const attempts = 2

const scoreOf = (
  judge: Model | null,
  output: string,
  job: Job,
  check: Check,
  spend: (usd: number) => void
): Effect.Effect<Scored, ScoringFailed | ModelFailed, ChildProcessSpawner.ChildProcessSpawner> => {
  switch (check.kind) {
    case "built-in":
      return Effect.succeed(Scorers.score(check.scorer, output, check.expected))
    case "promptfoo": {
      const found = PromptfooScore.score(check, output)
      return found === null
        ? Effect.fail(
            new ScoringFailed({
              problem: `the regular expression ${PlainText.json(check.value, 200)} took longer than a second; write it without nested repetition`
            })
          )
        : Effect.succeed({ score: found })
    }
    case "judge":
      return grade(Invariant.present(judge, "judge"), check.rubric, output, job, spend)
    case "command":
      return run(check.command, output, job)
    case "label":
      return Effect.succeed(Judged.scoreVerdict(output, check.label))
  }
}

const conversation = (rubric: string, output: string, job: Job) => [
  { role: "user" as const, text: Scorers.judgeRequest({ rubric, output, ...seen(job) }) }
]

const seen = ({ case: { expected, input } }: Job) => ({ expected: expected ?? null, input })

const grade = Effect.fnUntraced(function* (
  judge: Model,
  rubric: string,
  output: string,
  job: Job,
  spend: (usd: number) => void
) {
  let how = ""
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { end, text } = yield* judge.ask(conversation(rubric, output, job), maxVerdictTokens, spend)
    // What was cut may be a thought about the verdict.
    const verdict = end === "done" ? Scorers.readVerdict(text) : null
    if (verdict !== null) return verdict
    how = `${unended[end]} ${PlainText.json(text, 200)}`
  }
  return yield* new ScoringFailed({
    problem: `the judge ${judge.name.text} ${how}; expected <score>N</score> with 0 to 10, yes or no`
  })
})

const unended = {
  done: "wrote",
  cut: `was cut at ${maxVerdictTokens} tokens after`,
  refused: "or its provider refused to write, after"
} as const

/** A program reads `{output, expected, input}` from standard input and prints a number or `{score, feedback}`. */
const run = Effect.fnUntraced(function* (command: ChildProgram.Command, output: string, job: Job) {
  const failed = (problem: string) => new ScoringFailed({ problem: `${command.join(" ")} ${problem}` })
  const input = [PlainText.jsonLine({ output, ...seen(job) })]
  const finished = yield* ChildProgram.run({ command, input, timeout: "1 minute", most: longestOutput }).pipe(
    Effect.mapError(({ reason }) => failed(reason))
  )
  const { code, output: printed, trouble } = finished
  if (code !== 0)
    return yield* failed(`ended with exit code ${code}; expected 0. ${PlainText.escape(trouble.trim().slice(-300))}`)
  return (
    Scorers.readPrinted(printed) ??
    (yield* failed(
      `printed ${PlainText.json(printed, 200)}; expected a number in [0, 1], or {"score": NUMBER, "feedback": TEXT}`
    ))
  )
})

/** The most bytes that a program may print. */
const longestOutput = 64 * 1024
