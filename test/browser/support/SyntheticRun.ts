import { appendFile, mkdir, writeFile } from "node:fs/promises"
import { RunEvent as RunEventSchema, type RunEvent, RunEvents, RunState } from "@inspo/coevolution"
import { Presets, RunConfig } from "@inspo/config"
import { type Group, Question, Trajectory } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layer } from "@inspo/journal/sqlite"
import { Array as Arr, Effect, ManagedRuntime, Schema } from "effect"
import { chance, syntheticLog } from "../../../packages/analysis/test/support/SyntheticLog.ts"

/** How large a run is, and what its policy and its proposer write. */
export interface Shape {
  readonly steps: number
  readonly questionsPerStep: number
  readonly groupSize: number
  /** Tokens of a response as they are stored. */
  readonly tokens: number
  /** Put into every text that a model or a user writes. */
  readonly text?: string
  readonly randomSeed?: number
  /** Where the questions are kept: in the run directory, unless runs share them. */
  readonly questions?: string
}

/** A run directory whose events are written bit by bit: what is not written yet is still to happen. */
export interface SyntheticRun {
  readonly directory: string
  readonly events: number
  /** The number of events up to the end of a step. */
  readonly endOf: (step: number) => number
  /** Appends events up to the `end`-th, with their trajectories. */
  readonly write: (end: number) => Promise<void>
  readonly close: () => Promise<void>
}

const questions = 400

const encode = Schema.encodeSync(RunEventSchema)

/** Plays a run at no cost, through the pure loop, and writes it through the journal. */
export const syntheticRun = async (directory: string, shape: Shape): Promise<SyntheticRun> => {
  await mkdir(directory, { recursive: true })
  const config = configOf(directory, shape)
  await writeFile(`${directory}/config.json`, JSON.stringify(Schema.encodeSync(RunConfig)(config)))
  await writeFile(config.data.questions ?? "", questionRows(shape))
  const events = syntheticLog(config, questions).map(elaborator(shape))
  const runtime = ManagedRuntime.make(layer({ file: `${directory}/journal.sqlite`, mode: "create" }))
  let written = 0
  const write = async (end: number) => {
    const timings: Array<string> = []
    await runtime.runPromise(
      Effect.gen(function* () {
        const journal = yield* Journal
        for (const event of events.slice(written, end)) {
          const rows = trajectoriesOf(event, shape)
          const step = "step" in event ? event.step : shape.steps
          yield* journal.putRecords("trajectory", step, rows)
          yield* journal.append([
            { type: event._tag, step, payload: { ...encode(event), version: RunEvents.versions[event._tag] } }
          ])
          timings.push(timing(event._tag, step, (written += 1)))
        }
      })
    )
    await appendFile(`${directory}/timings.jsonl`, timings.join(""))
  }
  const endOf = (step: number) => 1 + events.findLastIndex((event) => "step" in event && event.step === step)
  return { directory, events: events.length, endOf, write, close: () => runtime.dispose() }
}

/** The line of an event in `timings.jsonl`: an event every 20 seconds, in two sessions. */
const timing = (event: string, step: number, number: number): string => {
  const [launched, seconds] = number < 20 ? [1, 20 * number] : [2, 20 * (number - 19)]
  const session = Date.UTC(2026, 0, launched)
  return `${JSON.stringify({ session, seconds, event, step, rollouts: 0, rss: 0 })}\n`
}

const configOf = (
  directory: string,
  {
    groupSize,
    questions = `${directory}/questions.jsonl`,
    questionsPerStep,
    randomSeed = Presets.paper.randomSeed,
    steps,
    text = ""
  }: Shape
): RunConfig => ({
  ...Presets.paper,
  randomSeed,
  data: { ...Presets.paper.data, questions },
  seedInstruction: `Answer the question. ${text}`,
  variants: [],
  schedule: { ...Presets.paper.schedule, steps, pruneEvery: 5, evolveEvery: 15, evolveUntil: steps },
  population: { ...Presets.paper.population, size: 7 },
  selection: { ...Presets.paper.selection, rounds: 1, baseline: "rerun" },
  verification: { samples: 40 },
  rollout: { ...Presets.paper.rollout, groupSize },
  train: {
    ...Presets.paper.train,
    batchSize: questionsPerStep,
    miniBatch: { ...Presets.paper.train.miniBatch, size: questionsPerStep }
  },
  evaluation: { ...Presets.paper.evaluation, every: Math.max(1, Math.floor(steps / 6)) }
})

const questionRows = ({ text = "" }: Shape): string =>
  Array.from({ length: questions }, (_, index) =>
    JSON.stringify({
      id: `q${index}`,
      question: `Who is the mayor of town ${index}? ${text}`,
      golden_answers: [`Person ${index}`],
      data_source: index % 3 === 0 ? "hard" : "easy",
      metadata: { split: index % 10 === 9 ? "test" : index % 10 === 8 ? "validation" : "train" }
    })
  ).join("\n")

/** Gives the groups of an event all their trajectories, and its texts something to say. */
const elaborator = (shape: Shape) => {
  const { text = "" } = shape
  /** The last training trajectory of each question, by which a failure of it is known. */
  const latest = new Map<string, Trajectory.TrajectoryId>()
  const wording = (candidate: string) => `Answer the question. Search first, in ${candidate} short steps. ${text}`
  const alone = { ...shape, groupSize: 1 }

  return (event: RunEvent): RunEvent => {
    switch (event._tag) {
      case "RolloutsCollected": {
        const groups = event.groups.map((group, index) => whole(`train/${event.step}/${index}`, group, shape))
        for (const group of groups) latest.set(group.questionId, group.trajectories[0])
        return { ...event, groups }
      }
      case "Validated":
        return {
          ...event,
          groups: event.groups.map((group, index) => answered(whole(`validate/${event.step}/${index}`, group, alone)))
        }
      case "Evaluated":
        return {
          ...event,
          groups: event.groups.map((group, index) =>
            answered(whole(`evaluate/${event.policy}/${event.instruction}/${index}`, group, alone))
          )
        }
      case "StepTrained": {
        const wave = chance(`update ${event.step}`)
        return {
          ...event,
          metrics: [{ loss: wave - 0.5, kl: 0.01 * wave, clipFraction: 0.1 * wave, gradientNorm: wave, tokens: 1000 }]
        }
      }
      case "CandidatesProposed":
        return {
          ...event,
          failures: event.failures.map((id) => latest.get(questionOf(id)) ?? id),
          critique: `The policy answers before it has searched. ${text}`,
          candidates: event.candidates.map((candidate) => ({
            text: wording(candidate.text),
            rationale: `adds "Search first". ${text}`
          }))
        }
      case "PopulationRefilled":
        return {
          ...event,
          accepted: event.accepted.map((entry) => ({
            ...entry,
            instruction: { ...entry.instruction, text: wording(entry.instruction.text) }
          }))
        }
      default:
        return event
    }
  }
}

/** The log names a trajectory by its question and a number. */
const questionOf = (trajectory: string): string => trajectory.replace(/\/\d+$/u, "")

const whole = (name: string, group: Group.Group, { groupSize, tokens }: Shape): Group.Group => ({
  ...group,
  dataSource: Number(group.questionId.slice(1)) % 3 === 0 ? "hard" : "easy",
  promptTokens: 60,
  rewards: Arr.makeBy(groupSize, (sample) => group.rewards[sample] ?? group.rewards[0]),
  trajectories: Arr.makeBy(groupSize, (sample) => Trajectory.TrajectoryId.make(`${name}/${sample}`)),
  toolCalls: Arr.makeBy(groupSize, (sample) => Math.floor(3 * chance(`${name}/${sample} calls`))),
  responseTokens: Arr.makeBy(groupSize, (sample) => Math.round(tokens * (0.5 + chance(`${name}/${sample} length`))))
})

/** A group of a question that nobody trains on, right or wrong by its name. */
const answered = (group: Group.Group): Group.Group => ({
  ...group,
  questionId: Question.QuestionId.make(`q${9 + 10 * Math.floor(40 * chance(group.trajectories[0]))}`),
  rewards: [chance(`${group.trajectories[0]} reward`) < 0.6 ? 1 : 0]
})

/** What an event tells of one trajectory. */
interface Told {
  readonly id: string
  readonly instructionId: string
  readonly questionId: string
  readonly reward: number
  readonly toolCalls: number
  readonly responseTokens: number
}

const tellings = (event: RunEvent, { tokens }: Shape): ReadonlyArray<Told> => {
  switch (event._tag) {
    case "RolloutsCollected":
    case "Validated":
    case "Evaluated":
      return event.groups.flatMap((group) =>
        group.trajectories.map((id, sample) => ({
          id,
          instructionId: group.instructionId,
          questionId: group.questionId,
          reward: group.rewards[sample] ?? 0,
          toolCalls: group.toolCalls[sample] ?? 0,
          responseTokens: group.responseTokens[sample] ?? 0
        }))
      )
    case "CandidatesVerified": {
      const contestants = [
        ...event.candidates.map((scores, place) => [`candidate-${place}`, scores] as const),
        ["parent", event.parent ?? []] as const
      ]
      return contestants.flatMap(([name, scores]) =>
        scores.map((reward, place) => ({
          id: `verify/${event.step}/${event.round}/${name}/${place}/0`,
          instructionId: name === "parent" ? name : RunState.candidateId(event, Number(name.split("-")[1])),
          questionId: event.questions[place] ?? "q0",
          reward,
          toolCalls: 1,
          responseTokens: tokens
        }))
      )
    }
    default:
      return []
  }
}

/** The records of an event's trajectories. */
const trajectoriesOf = (event: RunEvent, shape: Shape) => {
  const { text = "", tokens } = shape
  return tellings(event, shape).map((told) => {
    const number = told.questionId.slice(1)
    const answer = told.reward > 0 ? `Person ${number}` : `nobody ${text}`
    return {
      key: told.id,
      value: {
        ...told,
        answer,
        turns: 2,
        finishReason: "answered",
        promptTokens: 60,
        prompt: Array.from({ length: 60 }, (_, index) => index),
        response: Array.from({ length: tokens }, (_, index) => index),
        logprobs: Array.from({ length: tokens }, (_, index) => -index / 7),
        mask: Array.from({ length: tokens }, () => 1),
        transcript: [
          {
            text: `<think>Who is it? ${text}</think><search>mayor of town ${number} ${text}</search>`,
            action: { kind: "search", content: `mayor of town ${number}` },
            observation: `<information>Town ${told.questionId}: Person ${number} is its mayor. ${text}</information>`
          },
          {
            text: `<think>It is said above. ${text}</think><answer>${answer}</answer>`,
            action: { kind: "answer", content: answer },
            observation: null
          }
        ]
      }
    }
  })
}
