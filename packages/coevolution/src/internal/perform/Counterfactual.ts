/** What the observations of a trajectory changed in the actions after them. */
import { Invariant, Trajectory } from "@inspo/domain"
import { Engine, type Sequence } from "@inspo/engine"
import { Credits } from "@inspo/policy-gradient"
import { Array as Arr, Context, Effect } from "effect"
import type { Algorithm } from "../../Algorithm.ts"
import type { Findings } from "../../RunEvent.ts"

/** The findings of the event that is replayed, for which nothing is scored; null in a run. */
export const Recorded = Context.Reference<Effect.Effect<Findings | null>>(
  "@inspo/coevolution/Counterfactual/Recorded",
  {
    defaultValue: () => Effect.succeed(null)
  }
)

/**
 * What the rule of credit reads of each turn beside its text, else null. Actions are scored by the current policy after a placeholder
 * for the observation before them, or for all observations of their context. The log-probabilities with these are those of
 * sampling, unless the policy `hasChanged` since. What nothing was shown before has 0; a prompt is never changed.
 */
export const make = Effect.fnUntraced(function* ({ train: { credit } }: Algorithm) {
  const engine = yield* Engine
  const recorded = yield* Recorded
  const score = (sequences: ReadonlyArray<Sequence>) => engine.score("current", sequences)
  const hide = (observation: ReadonlyArray<number>, said: string | null) =>
    engine.tokenizer.encode(hidden(engine.tokenizer.decode(observation), said))

  const informationOf = Effect.fnUntraced(function* (trajectories: Trajectories, hasChanged: boolean) {
    const turns = trajectories.map(observed)
    const replies = turns.flat().filter((turn) => turn !== null)
    const without = yield* score(
      replies.map(({ before, observation, response, said }) => ({
        prompt: [...before, ...hide(observation, said)],
        response
      }))
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
    return turns.map((own) => own.map(gainOf))
  })

  const dependenceOf = Effect.fnUntraced(function* (trajectories: Trajectories, hasChanged: boolean) {
    const segments = trajectories.map((trajectory) => blinded(trajectory, hide))
    const without = (yield* score(segments.flat())).values()
    const shown = segments.flatMap((own) => own.map((segment) => segment.shown))
    const withThem = (hasChanged ? yield* score(shown) : shown.map(({ logprobs }) => logprobs)).values()
    return segments.map((own) =>
      own.flatMap(({ turns }) => {
        const [before = [], after = []] = [withThem.next().value, without.next().value]
        return turns.map((places, turn) => ({
          dependence:
            turn === 0
              ? places.map(() => 0)
              : Credits.dependence(
                  places.map(({ at }) => Invariant.at(before, at, "log-probability")),
                  places.map(({ blind }) => Invariant.at(after, blind, "log-probability without observations"))
                )
        }))
      })
    )
  })

  return Effect.fn("Perform.information")(function* (trajectories: Trajectories, hasChanged: boolean) {
    if (credit.name !== "information" && credit.name !== "evidence") return null
    const known = yield* recorded
    if (known !== null) return known.of.map(({ turns = [] }) => ({ turns }))
    const find = credit.name === "information" ? informationOf : dependenceOf
    const found: ReadonlyArray<NonNullable<Findings["of"][number]["turns"]>> = yield* find(trajectories, hasChanged)
    return found.map((turns) => ({ turns }))
  })
})

type Trajectories = ReadonlyArray<Trajectory.Trajectory>

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
    const starts = startsOf(mask)
    return starts.map((start, index) => {
      const said = trajectory.transcript[turn++]?.observation ?? null
      const [end, next] = [endOf(mask, start), starts[index + 1]]
      if (next === undefined) return null
      return {
        before: [...prompt, ...response.slice(0, end)],
        observation: response.slice(end, next),
        said,
        response: response.slice(next, endOf(mask, next)),
        logprobs: logprobs.slice(next, endOf(mask, next))
      }
    })
  })
}

/** The segments with each observation hidden up to the last turn, and where the tokens of their turns are in both. */
const blinded = (
  { transcript, ...trajectory }: Trajectory.Trajectory,
  hide: (observation: ReadonlyArray<number>, said: string | null) => ReadonlyArray<number>
) => {
  let turn = 0
  return Trajectory.segments(trajectory).map((shown) => {
    const { mask, prompt, response } = shown
    const blind: Array<number> = []
    let end = 0
    const turns = startsOf(mask).map((start) => {
      if (start > end) blind.push(...hide(response.slice(end, start), transcript[turn - 1]?.observation ?? null))
      turn++
      end = endOf(mask, start)
      return Arr.map(response.slice(start, end), (token, at) => ({ at: start + at, blind: blind.push(token) - 1 }))
    })
    return { prompt, response: blind, shown, turns }
  })
}

/** Where the runs of action tokens of a mask start. */
const startsOf = (mask: Trajectory.Segment["mask"]): ReadonlyArray<number> =>
  mask.flatMap((isAction, at) => (isAction === 1 && mask[at - 1] !== 1 ? [at] : []))

const endOf = (mask: Trajectory.Segment["mask"], start: number): number => {
  const end = mask.indexOf(0, start)
  return end === -1 ? mask.length : end
}
