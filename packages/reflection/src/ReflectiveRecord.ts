import type { Trajectory } from "@inspo/domain"

/** What an agent of inspo did: its turns, its answer, null if it gave none, and why it ended. */
export interface Attempt {
  readonly turns: ReadonlyArray<Trajectory.Turn>
  readonly answer: string | null
  readonly finishReason: string
}

/**
 * What an agent did under an instruction, as far as it is known, with its score in [0, 1]: what it was asked, what was said and
 * done, what was said of it, and the answers that would have been right.
 */
export interface ReflectiveRecord {
  readonly score: number
  readonly task?: string | undefined
  readonly transcript?:
    | string
    | ReadonlyArray<{ readonly role: string; readonly content: string }>
    | Attempt
    | undefined
  readonly feedback?: string | undefined
  readonly expected?: ReadonlyArray<string> | undefined
}

/** Whether a transcript is that of an agent of inspo. */
export const isAttempt = (transcript: ReflectiveRecord["transcript"]): transcript is Attempt =>
  typeof transcript === "object" && "turns" in transcript
