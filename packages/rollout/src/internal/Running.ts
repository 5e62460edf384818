import type { Agent, Environment } from "../Agent.ts"
import type { Episode } from "../Episode.ts"
import type { Answer, End, Program, Step } from "../Program.ts"
import type { Recorded } from "../Recording.ts"
import * as Transcription from "../Transcription.ts"
import { demonstrated } from "./Demonstrated.ts"
import * as TokenConversation from "./TokenConversation.ts"

/** An exception of an agent. */
export interface Thrown {
  readonly _tag: "Thrown"
  readonly cause: unknown
}

/** A running or finished episode; `index` is its place among those collected together. */
export interface Running<S extends Step | Thrown = Step | Thrown> extends Recorded {
  readonly index: number
  readonly episode: Episode
  /** What its program waits for. */
  readonly step: S
  /** Whether the log-probabilities of its turns have yet to be found. */
  readonly isRescored: boolean
  readonly resume: (answer: Answer) => void
  /** Ends it after a failure of its environment. */
  readonly fail: (failure: string) => void
}

/** Starts the episodes of an agent on an engine: each runs to the first step of its program. */
export const make = (agent: Agent, setting: Transcription.Setting & Environment) => {
  const transcription = (agent.transcription ?? Transcription.verbatim)(setting)
  const converse = TokenConversation.make(setting, transcription)
  const run = agent.make(setting)
  return (episode: Episode, index: number): Running => {
    const conversation = converse(episode)
    const { demonstration } = episode
    const play = function* (): Program {
      const program = run(conversation)
      return yield* demonstration === undefined ? program : demonstrated(setting.tokenizer, demonstration, program)
    }
    return started(play(), conversation, {
      episode,
      index,
      isRescored: transcription.isRescored || demonstration !== undefined
    })
  }
}

/** Runs the program of an episode to its first step. */
export const started = (
  program: Program,
  { read, recording }: Recorded,
  about: Pick<Running, "episode" | "index" | "isRescored">
): Running => {
  let step = take(program)
  return {
    ...about,
    get step() {
      return step
    },
    recording,
    read,
    resume: (answer) => {
      step = take(program, answer)
    },
    fail: (failure) => {
      step = { _tag: "End", reason: "failed", failure }
    }
  }
}

export const isOver = (running: Running): running is Running<End> => running.step._tag === "End"

/** The exception of an agent, as the defect of its collection. */
export const defect = ({ episode, step }: Running<Thrown>): Error =>
  new Error(`agent: threw an exception in the episode ${episode.id}`, { cause: step.cause })

const take = (program: Program, ...answer: [] | [Answer]): Step | Thrown => {
  try {
    const { done, value } = program.next(...answer)
    return done === true ? { _tag: "End", reason: value } : value
  } catch (cause) {
    return { _tag: "Thrown", cause }
  }
}
