/** Leases after the switch to the seed: those of the incumbent, which the seed is then. None of them is evidence. */
import { HashMap, Option } from "effect"
import type { Answer, LeaseCommand } from "../Command.ts"
import type { EventOf, PopulationEvent } from "../Event.ts"
import type { State } from "../State.ts"

/** What is asked for in place of what a client asks for. */
export const asked = (command: LeaseCommand): LeaseCommand => ({
  ...command,
  cohort: null,
  phase: "validation",
  isFullBatch: false,
  requests: command.requests.map((request) => ({ ...request, instructions: 1 }))
})

/** A lease that was given before gets the seed now. What its instruction did not do is no evidence on it. */
export const decided =
  (before: State, { requests }: LeaseCommand) =>
  ({ answer, events }: Decided): Decided => ({
    events: [...abandoned(before, new Set(requests.map(({ key }) => key))), ...events],
    answer: (state) => withSeed(state, answer(state))
  })

interface Decided {
  readonly events: ReadonlyArray<PopulationEvent>
  readonly answer: (state: State) => Answer
}

const withSeed = ({ learning: { seed } }: State, answer: Answer): Answer =>
  answer._tag === "Leases"
    ? {
        ...answer,
        leases: answer.leases.map(({ instruction, ...lease }) => ({
          ...lease,
          instruction: seed,
          probability: 1,
          replaces: instruction === seed ? lease.replaces : instruction
        }))
      }
    : answer

const abandoned = ({ cohorts }: State, keys: ReadonlySet<string>): ReadonlyArray<EventOf<"Rewarded">> =>
  cohorts
    .filter(({ isNamed, phase, status }) => !isNamed && phase === "train" && status !== "complete")
    .map(({ leases, name }) => ({
      _tag: "Rewarded" as const,
      cohort: name,
      rewards: Array.from(keys).flatMap((key) =>
        Option.match(HashMap.get(leases, key), {
          onNone: () => [],
          onSome: ({ n, samples }) =>
            Array.from({ length: n }, (_, sample) => ({ key, sample, value: "abandoned" as const })).filter(
              ({ sample }) => (samples[sample] ?? null) === null
            )
        })
      )
    }))
    .filter(({ rewards }) => rewards.length > 0)
