import { Array as Arr, Option } from "effect"
import { sumAll } from "effect/Number"
import type { Algorithm } from "@inspo/coevolution"
import type { Move } from "../DryRun.ts"
import { Interval } from "@inspo/statistics"

/** The result of a dry run: prunes, verifications and refills in order, and the learning rate of each step. */
interface Played {
  readonly decisions: ReadonlyArray<Move>
}

export const warnings = (algorithm: Algorithm, { decisions }: Played): ReadonlyArray<string> =>
  [
    shortWindow(algorithm),
    belowResolution(decisions),
    tooFewGroups(algorithm),
    evolutionAfterEnd(algorithm),
    evolutionAtEnd(decisions, algorithm),
    algorithm.selection.removal === "evidence" ? null : unprunedParents(decisions, algorithm),
    tooFewQuestions(decisions, algorithm)
  ].filter((warning) => warning !== null)

const shortWindow = ({ population, schedule, selection }: Algorithm): string | null =>
  selection.average !== "questions" && selection.window < schedule.pruneEvery && population.size > population.parents
    ? `selection.window is ${selection.window} and schedule.pruneEvery ${schedule.pruneEvery}: the rewards of ` +
      `${count(schedule.pruneEvery - selection.window, "step")} before each window do not count for any prune.`
    : null

const points = (difference: number): string => (100 * difference).toFixed(1)

/** A typical difference in reward between the best two instructions: 2.8 points of exact match. */
const typicalGap = 0.028

const belowResolution = (moves: ReadonlyArray<Move>): string | null => {
  const first = Arr.findFirst(moves, ({ event }) => event._tag === "Pruned" && event.pruned.length > 0)
  if (Option.isNone(first)) return null
  const { members } = first.value.before.population
  const groups = sumAll(members.flatMap(({ window }) => window.map((entry) => entry.groups))) / members.length
  // The difference of two independent means has the variances of both.
  const gap = Math.SQRT2 * Interval.halfWidth(groups)
  const needed = Math.ceil(groups * (gap / typicalGap) ** 2)
  return gap > typicalGap
    ? `Pruning is below its resolution: at step ${first.value.before.step} each of ${members.length} instructions has ` +
        `about ${Math.round(groups)} groups, which distinguishes rewards that differ by ${points(Math.min(1, gap))} points or more (95 %, ` +
        `variance 1/4), but ${points(typicalGap)} points are typical and need ${needed.toLocaleString("en-US")} groups each.`
    : null
}

const tooFewGroups = ({ population, train }: Algorithm): string | null =>
  population.size > 1 && train.batchSize <= population.size
    ? `train.batchSize is ${train.batchSize} for ${population.size} instructions (population.size): a step has at ` +
      "most one group each, and some get none."
    : null

const evolutionAfterEnd = ({ population, schedule }: Algorithm): string | null => {
  const { evolveEvery, evolveUntil, steps } = schedule
  if (evolveEvery === 0 || population.size === population.parents) return null
  const missed = Math.floor((evolveUntil ?? steps) / evolveEvery) - Math.floor(steps / evolveEvery)
  return missed > 0
    ? `schedule.evolveUntil is ${evolveUntil}, but the run ends at step ${steps}: ${count(missed, "evolution")} will not ` +
        "take place."
    : null
}

const evolutionAtEnd = (moves: ReadonlyArray<Move>, { schedule }: Algorithm): string | null =>
  moves.some(
    ({ event }) => event._tag === "PopulationRefilled" && event.step === schedule.steps && event.accepted.length > 0
  )
    ? `The evolution at step ${schedule.steps}, the last one, adds instructions that the policy is never trained with.`
    : null

const unprunedParents = (moves: ReadonlyArray<Move>, { population, schedule }: Algorithm): string | null => {
  const pruned = new Set(moves.flatMap(({ event }) => (event._tag === "Pruned" ? [event.step] : [])))
  const crowded = Arr.findFirst(
    moves,
    ({ before, event }) =>
      event._tag === "PopulationRefilled" &&
      !pruned.has(event.step) &&
      before.population.members.length > population.parents
  )
  return Option.match(crowded, {
    onNone: () => null,
    onSome: ({ before }) =>
      `schedule.evolveEvery is ${schedule.evolveEvery}, not a multiple of schedule.pruneEvery (${schedule.pruneEvery}): at ` +
      `step ${before.step} the parents are chosen from ${before.population.members.length} instructions that were not pruned.`
  })
}

const tooFewQuestions = (moves: ReadonlyArray<Move>, { selection, verification }: Algorithm): string | null => {
  const fewest = moves.reduce(
    (least, { before, command }) =>
      command._tag === "Verify"
        ? Math.min(
            least,
            new Set(before.buffer.experiences.map(({ questionId }) => questionId)).size,
            command.questions.length
          )
        : least,
    Number.POSITIVE_INFINITY
  )
  return fewest < verification.samples
    ? `verification.samples is ${verification.samples}, but the replay buffer has only ${fewest} questions to verify with ` +
        `(it keeps ${count(selection.capacitySteps, "step")}).`
    : null
}

const count = (value: number, noun: string): string => `${value} ${noun}${value === 1 ? "" : "s"}`
