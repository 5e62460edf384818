/**
 * The rule of E-SPL: TrueSkill (Herbrich et al. 2006) with one match of all instructions in each step, ranked by their mean
 * rewards, and one pass over neighbours in the ranking.
 */
import { Option } from "effect"
import type { Population } from "@inspo/population"
import { density, phi } from "../Normal.ts"

/** The skills by the windows of the members, which must contain all steps. */
export const strategy: Omit<Population.Interface, "observe"> = {
  identity: { name: "trueskill", parameters: {} },
  values: (population) => {
    const skills = skillsOf(population)
    return population.members.map(({ instruction: { id } }, place) => ({ id, value: skills[place] ?? start.mean }))
  },
  best: (population) => {
    const skills = skillsOf(population)
    return Option.fromNullishOr(population.members[skills.indexOf(Math.max(...skills))])
  }
}

const start = { mean: 25, deviation: 25 / 3 }
const beta = 25 / 6
const tau = 25 / 300

const skillsOf = ({ members, step: last }: Population.Contents): ReadonlyArray<number> => {
  const skills = members.map(({ window }) => ({
    ...start,
    rewards: new Map(window.map(({ mean, step }) => [step, mean]))
  }))
  for (let step = 1; step <= last; step++) {
    for (const one of skills) one.deviation = Math.hypot(one.deviation, tau)
    const played = skills
      .filter(({ rewards }) => rewards.has(step))
      .toSorted((a, b) => (b.rewards.get(step) ?? 0) - (a.rewards.get(step) ?? 0))
    for (const [place, winner] of played.entries()) {
      const loser = played[place + 1]
      if (loser === undefined) continue
      const [own, other] = [winner.deviation ** 2, loser.deviation ** 2]
      const spread = Math.sqrt(2 * beta ** 2 + own + other)
      const gap = (winner.mean - loser.mean) / spread
      const surprise = density(gap) / Math.max(phi(gap), 1e-9)
      const shrinkage = surprise * (surprise + gap)
      winner.mean += (own / spread) * surprise
      loser.mean -= (other / spread) * surprise
      winner.deviation = Math.sqrt(own * Math.max(1 - (own / spread ** 2) * shrinkage, 1e-3))
      loser.deviation = Math.sqrt(other * Math.max(1 - (other / spread ** 2) * shrinkage, 1e-3))
    }
  }
  return skills.map(({ mean }) => mean)
}
