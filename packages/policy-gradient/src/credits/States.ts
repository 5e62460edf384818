import { credit, toGo } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * GiGPO: beside the advantage of its rollout, a turn has that of its discounted return among all turns of the group in the same
 * state. Where all states differ, it is the outcome alone; the added parts of one state sum to 0.
 */
export const states = credit({
  name: "states",
  description: "adds to the outcome the advantage of a turn among those of the group in the same state",
  formula: "A_t = A + w · (G_t − mean) / (sd + ε) over turns of one state; G_t = r_t + γ · G_(t + 1)",
  source: "GiGPO (verl-agent, ROLL)",
  certainty: "code",
  needs: "states and rewards of turns",
  isSupplied: true,
  defaults: { gamma: 0.95, weight: 1, epsilon: 1e-6 },
  compute: (group, { epsilon, gamma, weight }) => {
    const returns = group.map(({ turns }) =>
      toGo(
        turns.map(({ reward }) => Method.required("states", "reward", reward)),
        gamma
      )
    )
    const turns = group.flatMap(({ turns }, episode) =>
      turns.map(({ state }, turn) => ({ episode, turn, state: Method.required("states", "state", state) }))
    )
    const values = group.map(({ advantage, turns }) => turns.map(() => advantage))
    for (const cell of Map.groupBy(turns, ({ state }) => state).values()) {
      const parts = Moments.standardise(
        cell.map(({ episode, turn }) => returns[episode]?.[turn] ?? 0),
        epsilon
      )
      for (const [index, { episode, turn }] of cell.entries()) {
        const row = values[episode]
        if (row !== undefined) row[turn] = (row[turn] ?? 0) + weight * (parts[index] ?? 0)
      }
    }
    return values
  }
})
