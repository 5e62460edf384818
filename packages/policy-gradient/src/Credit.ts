/** Credit of the turns of a rollout: which of them earned its outcome. */
import { Method } from "@inspo/domain"

/** What credit reads of a turn. The fields are for the rules that name them in `needs`. */
export interface Turn {
  /** A judge's score of the turn. */
  readonly score?: number
  /** A judge's score of it as a reflection on the turns before. */
  readonly reflection?: number
  /** Whether a judge found it critical for the outcome. */
  readonly critical?: boolean
  /** What its observation changed in the next action, in nats per token. */
  readonly information?: number
  /** How much each of its tokens depends on the observations before it, from 0 to 10. */
  readonly dependence?: ReadonlyArray<number>
  /** The state that it acted in, such as a normalised query. */
  readonly state?: string
  /** Its own reward. */
  readonly reward?: number
  /** Whether it retrieved something that holds the answer; null if it retrieved nothing. */
  readonly valuable?: boolean | null
}

/** A rollout as credit sees it: its reward, its advantage by an estimator, and its turns. */
export interface Episode {
  readonly reward: number
  readonly advantage: number
  readonly turns: ReadonlyArray<Turn>
}

/** A rule that gives each turn of the rollouts of a group its own advantage, or, of tokens, each action token of those of a step. */
export const credit = Method.rules<ReadonlyArray<Episode>, ReadonlyArray<ReadonlyArray<number>>>()

/** The sums of values from each place to the end, those further off times a power of `gamma`. */
export const toGo = (values: ReadonlyArray<number>, gamma: number): ReadonlyArray<number> => {
  let sum = 0
  return values
    .toReversed()
    .map((value) => (sum = value + gamma * sum))
    .toReversed()
}
