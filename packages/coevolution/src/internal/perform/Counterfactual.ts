/** What the observations of a trajectory changed in the actions after them. */
import { Invariant, Trajectory } from "@inspo/domain"
import { Engine, type Sequence } from "@inspo/engine"
import { Credits } from "@inspo/policy-gradient"
import { Array as Arr, Effect } from "effect"
import type { Algorithm } from "../../Algorithm.ts"
import type { Findings } from "../../RunEvent.ts"

/**
 * The information of each turn, where the rule of credit reads it, else null: the actions are scored by the current policy after a
 * placeholder for the observation before them. The log-probabilities with it are those of sampling, unless the policy `hasChanged`
 * since. A turn that nothing followed, or that ended a context, has 0.
 */
export const make = Effect.fnUntraced(function* ({ train: { credit } }: Algorithm) {
  const engine = yield* Engine
  return Effect.fn("Perform.information")(function* (
    trajectories: ReadonlyArray<Trajectory.Trajectory>,
    hasChanged: boolean
  ) {
    if (credit.name !== "information") return null
    const turns = trajectories.map(observed)
    const replies = turns.flat().filter((turn) => turn !== null)
    const score = (sequences: ReadonlyArray<Sequence>) => engine.score("current", sequences)
    const without = yield* score(
      replies.map(({ before, observation, response, said }) => {
        const shown = engine.tokenizer.decode(observation)
        return { prompt: [...before, ...engine.tokenizer.encode(hidden(shown, said))], response }
      })
    )
    const withThem = hasChanged
      ? yield* score(
          replies.map(({ before, observation, response }) => ({ prompt: [...before, ...observation], response }))
        )
      : replies.map(({ logprobs }) => logprobs)
    let at = 0
    const gainOf = (reply: Observed | null) => {
      if (reply === null) return { information: 0 }
      const index = at++
      return {
        information: Credits.gained(
          Invariant.at(withThem, index, "log-probabilities"),
          Invariant.at(without, index, "log-probabilities without the observation")
        )
      }
    }
    return Arr.zipWith(trajectories, turns, ({ id }, own) => ({
      trajectory: id,
      turns: own.map(gainOf)
    })) satisfies Findings["of"]
  })
})

/** What InfoPO shows in the place of an observation. */
const placeholder = "No information found."

/** The text of an observation with the placeholder between its tags, or in the place of what was `said`. */
const hidden = (shown: string, said: string | null): string => {
  const between = /(<(\w+)>).*(<\/\2>)/su
  if (between.test(shown)) return shown.replace(between, `$1 ${placeholder}$3`)
  return said !== null && shown.includes(said) ? shown.replace(said, () => placeholder) : placeholder
}

/** An observation with the action after it. */
interface Observed {
  /** The tokens before it. */
  readonly before: ReadonlyArray<number>
  readonly observation: ReadonlyArray<number>
  /** Its text, as far as it is known. */
  readonly said: string | null
  readonly response: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
}

/** Each turn's observation with the action after it in the same context, or null. */
const observed = (trajectory: Trajectory.Trajectory): ReadonlyArray<Observed | null> => {
  let turn = 0
  return Trajectory.segments(trajectory).flatMap(({ logprobs, mask, prompt, response }) => {
    const starts = mask.flatMap((isAction, at) => (isAction === 1 && mask[at - 1] !== 1 ? [at] : []))
    const endOf = (start: number) => {
      const end = mask.indexOf(0, start)
      return end === -1 ? mask.length : end
    }
    return starts.map((start, index) => {
      const said = trajectory.transcript[turn++]?.observation ?? null
      const [end, next] = [endOf(start), starts[index + 1]]
      if (next === undefined) return null
      return {
        before: [...prompt, ...response.slice(0, end)],
        observation: response.slice(end, next),
        said,
        response: response.slice(next, endOf(next)),
        logprobs: logprobs.slice(next, endOf(next))
      }
    })
  })
}
