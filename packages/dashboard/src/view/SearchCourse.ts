/** The rounds of a search as charts show them. */
import type * as SearchView from "@inspo/evolve/SearchView"
import type { Mark } from "./OverviewView.ts"

type Member = SearchView.Round["members"][number]

/** A prompt in the rounds in which it was a member: `members[k]` is that of the round at the position `from + k`. */
export interface Life {
  readonly id: string
  readonly from: number
  readonly probabilities: ReadonlyArray<number | null>
  readonly gains: ReadonlyArray<Member["gain"]>
}

export interface SearchCourse {
  /** The numbers of the rounds. */
  readonly steps: ReadonlyArray<number>
  readonly lives: ReadonlyArray<Life>
  readonly marks: ReadonlyArray<Mark>
}

/** The probabilities and gains of all members over the rounds, and where some entered or left. */
export const courseOf = ({ rounds, tried }: Pick<SearchView.SearchView, "rounds" | "tried">): SearchCourse => {
  const steps = rounds.map(({ round }) => round)
  const lives = tried.flatMap(({ id }): ReadonlyArray<Life> => {
    const own = rounds.flatMap(({ members }, place) => {
      const member = members.find((one) => one.id === id)
      return member === undefined ? [] : [{ place, member }]
    })
    const [first] = own
    return first === undefined
      ? []
      : [
          {
            id,
            from: first.place,
            probabilities: own.map(({ member }) => member.chance),
            gains: own.map(({ member }) => member.gain)
          }
        ]
  })
  return { steps, lives, marks: marksOf(tried) }
}

const marksOf = (tried: SearchView.SearchView["tried"]): ReadonlyArray<Mark> => {
  const [, ...others] = tried
  const entered = Map.groupBy(others, ({ enteredAfter }) => enteredAfter)
  const left = Map.groupBy(
    others.flatMap((one) => (one.left === null ? [] : [{ id: one.id, after: one.left.after }])),
    ({ after }) => after
  )
  const idsOf = (own: ReadonlyArray<{ readonly id: string }>) => own.map(({ id }) => id).join(", ")
  return [
    ...[...left].map(([step, own]): Mark => ({ step, kind: "prune", text: `${idsOf(own)} left` })),
    ...[...entered].map(([step, own]): Mark => ({ step, kind: "evolve", text: `${idsOf(own)} entered` }))
  ].toSorted((one, other) => one.step - other.step)
}
