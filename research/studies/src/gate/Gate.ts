import { createHash } from "node:crypto"
import { commandOf } from "@inspo/reward"
import type { RunConfig } from "@inspo/config"
import { Trajectory } from "@inspo/domain"
import { Effect, Option } from "effect"
import { commandLine, named } from "../CommandLine.ts"
import { type Host, InvalidStudy, type QuestionData, StudyFailure } from "../Host.ts"
import { type GateResult, markdown, taskResult } from "./GateResult.ts"
import * as Records from "./Records.ts"
import { configure, type Task, tasks } from "./Tasks.ts"

export interface GateInput {
  /** Names of tasks, separated by commas; all when none. */
  readonly tasks: Option.Option<string>
  readonly preset: Option.Option<string>
  readonly set: ReadonlyArray<string>
  readonly seed: number
  readonly out: Option.Option<string>
}

/**
 * Tests whether instructions differ beyond noise for a policy, on the same questions of each of four tasks. Every answer
 * is stored at once, so that a stopped gate can continue.
 */
export const gate = Effect.fn("Gate.gate")(function* <E, R>(host: Host<E, R>, input: GateInput) {
  const chosen = yield* named(tasks, input.tasks)
  const preset = Option.getOrElse(input.preset, () => "quick")
  const base = yield* host.config(preset, [
    `randomSeed=${input.seed}`,
    "evaluation.questions=200",
    "train.fromStep=null",
    ...input.set
  ])
  const data = yield* host.data(base)
  const out = Option.getOrElse(input.out, () => "runs/bench-gate")
  const asked = yield* Effect.forEach(chosen, (task) => plan(task, base, data))
  const hash = fingerprint(base, asked)
  const file = `${out}/answers.jsonl`
  const kept = yield* resume(host, file, hash)
  yield* host.write(file, Records.write({ gate: hash, answers: kept }))

  const answers = [...kept]
  const results = []
  for (const { config, questions, task } of asked) {
    for (const [instruction, text] of task.instructions.entries()) {
      const isOwn = (answer: Records.Answer) => answer.task === task.name && answer.instruction === instruction
      const known = new Set(answers.filter(isOwn).map(({ question }) => question))
      const due = questions.slice(0, countOf(task, instruction, base))
      const missing = due.flatMap((question, index) => (known.has(question.id) ? [] : [{ index, question }]))
      yield* host.print([
        `${task.name}, instruction ${instruction + 1} of ${task.instructions.length}: ${missing.length} of ${due.length} questions left`
      ])
      if (missing.length === 0) continue
      const toAnswers = (finished: ReadonlyArray<Trajectory.Trajectory>) =>
        finished.flatMap((one) =>
          Trajectory.isFailed(one) || isUnasked(one) ? [] : [toAnswer(task, instruction, one)]
        )
      const trajectories = yield* host.answer(
        config,
        { instruction: text, path: ["gate", task.name], questions: missing },
        { file, lines: (finished) => Records.lines(toAnswers(finished)) }
      )
      answers.push(...toAnswers(trajectories))
      const unasked = trajectories.find(isUnasked)
      if (unasked !== undefined)
        return yield* new InvalidStudy({
          problem:
            `The prompt of ${unasked.questionId} has ${unasked.promptTokens} tokens, which is too long. Increase ` +
            "rollout.maxPromptTokens, or the context of the server."
        })
    }
    const own = answers.filter((answer) => answer.task === task.name)
    const expected = task.instructions.reduce(
      (sum, _, instruction) => sum + Math.min(questions.length, countOf(task, instruction, base)),
      0
    )
    if (own.length < expected)
      return yield* new StudyFailure({
        problem:
          `${expected - own.length} of ${expected} answers of ${task.name} failed because of a tool or the reward. The others ` +
          "are stored. Fix the cause and repeat the command."
      })
    results.push(taskResult(task, own, base.randomSeed))
    const result: GateResult = {
      gate: hash,
      command: commandLine([`${host.program} gate --seed ${input.seed}`], { ...input, arms: input.tasks }),
      code: host.code,
      model: base.engine.model ?? base.engine.tokenizer ?? "the embedded model",
      seed: base.randomSeed,
      tasks: [...results]
    }
    yield* host.write(`${out}/gate.json`, `${JSON.stringify(result, null, 2)}\n`)
    yield* host.write(`${out}/gate.md`, markdown(result))
    if (results.length < asked.length) continue
    yield* host.print(["", markdown(result), `Results: ${out}`])
    return result
  }
  return yield* Effect.die(new Error("a gate has at least one task"))
})

/** Whether the prompt was too long, so that the policy wrote nothing. */
const isUnasked = (trajectory: Trajectory.Trajectory): boolean =>
  !Trajectory.isFailed(trajectory) && trajectory.transcript.length === 0

/** How many questions are asked under an instruction: ten times as many under the plain one of a rare task. */
const countOf = ({ isRare }: Task, instruction: number, { evaluation }: RunConfig): number =>
  evaluation.questions * (isRare === true && instruction === 0 ? 10 : 1)

/** The questions of a task, and its settings. */
const plan = Effect.fnUntraced(function* (task: Task, base: RunConfig, data: QuestionData) {
  const questions = task.questions(data, countOf(task, 0, base), base.randomSeed)
  if (questions.length < 2)
    return yield* new InvalidStudy({
      problem:
        `${task.name} has ${questions.length} questions, expected at least 2: rows whose metadata.supporting_doc_ids are in ` +
        "data.corpus, or data.questions null for the generated world; and evaluation.questions of 2 or more."
    })
  return { task, questions, config: configure(task, base) }
})

/** The answers of an earlier start. */
const resume = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, file: string, hash: string) {
  const text = yield* host.read(file)
  const found = text === null ? null : Records.parse(text)
  if (found === null) return []
  if ("brokenLine" in found)
    return yield* new StudyFailure({
      problem: `Line ${found.brokenLine} of ${file} is not an answer. Fix or remove it, or choose another --out.`
    })
  if (found.gate !== hash)
    return yield* new InvalidStudy({
      problem: `${file} contains answers to other questions, instructions or settings. Choose another --out.`
    })
  return found.answers
})

/** A hash of what decides the answers; the address of the server does not. */
const fingerprint = (
  { engine, randomSeed: seed }: RunConfig,
  asked: ReadonlyArray<{ readonly task: Task; readonly config: RunConfig; readonly questions: ReadonlyArray<object> }>
): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        seed,
        { ...engine, url: null, concurrency: null },
        asked.map(({ config: { reward, rollout }, questions, task: { instructions, name } }) => [
          name,
          instructions,
          questions,
          rollout,
          // Without the paths of Node.js and the program.
          commandOf(reward)?.slice(2)
        ])
      ])
    )
    .digest("hex")
    .slice(0, 16)

const toAnswer = (task: Task, instruction: number, trajectory: Trajectory.Trajectory): Records.Answer => ({
  task: task.name,
  instruction,
  question: trajectory.questionId,
  reward: trajectory.reward,
  answer: trajectory.answer,
  promptTokens: trajectory.promptTokens,
  responseTokens: trajectory.responseTokens,
  text: trajectory.transcript.map(({ text }) => text).join("\n")
})
