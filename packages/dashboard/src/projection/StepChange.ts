/** Why the training reward changed at a step: which instructions came, went, or got other rewards. */
import type { Group, Instruction } from "@inspo/domain"
import { Exact } from "@inspo/statistics"
import { Record } from "effect"
import { movingSteps } from "../Means.ts"
import { type Groups, type RunRecord, trainingBatches } from "../RunRecord.ts"
import { causes, type StepChangeView } from "../view/StepChangeView.ts"
import { marks } from "./Marks.ts"
import { namesOf } from "./Overview.ts"

/**
 * The {@link movingSteps} steps before `step` compared with as many from it on, as far as there are any; null without answers on
 * one of the two sides. The difference is divided among the instructions by their shares and mean rewards in both stretches, each
 * against the mean of the two overall rewards, so that the parts sum up to it.
 */
export const stepChange = (record: RunRecord, step: number): StepChangeView | null => {
  const trained = trainingBatches(record)
  const before = stretch(trained, step - movingSteps, step - 1)
  const after = stretch(trained, step, step + movingSteps - 1)
  if (before.answers === 0 || after.answers === 0) return null
  const middle = (before.mean + after.mean) / 2
  const instructions = [...new Set([...before.byInstruction.keys(), ...after.byInstruction.keys()])].map((id) => {
    const [one, other] = [before.byInstruction.get(id), after.byInstruction.get(id)]
    const [share, later] = [(one?.answers ?? 0) / before.answers, (other?.answers ?? 0) / after.answers]
    const parts: Parts = {
      ...none,
      ...(one === undefined
        ? { entered: later * (meanOf(other) - middle) }
        : other === undefined
          ? { left: -share * (meanOf(one) - middle) }
          : {
              shares: (later - share) * ((meanOf(one) + meanOf(other)) / 2 - middle),
              within: ((share + later) / 2) * (meanOf(other) - meanOf(one))
            })
    }
    const part = causes.reduce((total, cause) => total + parts[cause], 0)
    return { id, before: shown(one), after: shown(other), part, parts }
  })
  const mean = after.mean - before.mean
  const half = before.half === null || after.half === null ? null : Math.hypot(before.half, after.half)
  return {
    step,
    before: { from: before.from, to: before.to, answers: before.answers, mean: before.mean },
    after: { from: after.from, to: after.to, answers: after.answers, mean: after.mean },
    difference: { mean, ci95: half === null ? null : [mean - half, mean + half] },
    parts: instructions.reduce((total, { parts }) => Record.map(total, (part, cause) => part + parts[cause]), none),
    instructions: instructions
      .sort((a, b) => Math.abs(b.part) - Math.abs(a.part))
      .map(({ after, before, id, part }) => ({ id, before, after, part })),
    decisions: marks(record).filter((mark) => mark.step >= before.from && mark.step < after.to),
    names: namesOf(record)
  }
}

type Parts = StepChangeView["parts"]

const none: Parts = { entered: 0, left: 0, shares: 0, within: 0 }

interface Sum {
  readonly answers: number
  readonly total: number
}

const meanOf = (sum: Sum | undefined): number => (sum === undefined ? 0 : sum.total / sum.answers)

const shown = (sum: Sum | undefined) => ({
  answers: sum?.answers ?? 0,
  mean: sum === undefined ? null : meanOf(sum)
})

/** The answers of steps, with half of the 95 % interval of their mean over questions; null with fewer than two questions. */
const stretch = (trained: ReadonlyArray<Groups>, from: number, to: number) => {
  const own = trained.filter(({ groups, step }) => step >= from && step <= to && groups.length > 0)
  const groups = own.flatMap(({ groups, step }) =>
    groups.map((group) => ({ group, question: `${step} ${group.questionId}` }))
  )
  const all = sum(groups.map(({ group }) => group))
  const questions = [...Map.groupBy(groups, ({ question }) => question).values()].map((same) =>
    meanOf(sum(same.map(({ group }) => group)))
  )
  const bounds = questions.length < 2 ? null : Exact.tInterval(questions, 0.95)
  return {
    from: own[0]?.step ?? from,
    to: own.at(-1)?.step ?? to,
    answers: all.answers,
    mean: all.answers === 0 ? 0 : meanOf(all),
    half: bounds === null ? null : (bounds[1] - bounds[0]) / 2,
    byInstruction: new Map<Instruction.InstructionId, Sum>(
      [...Map.groupBy(groups, ({ group }) => group.instructionId)].map(([id, same]) => [
        id,
        sum(same.map(({ group }) => group))
      ])
    )
  }
}

const sum = (groups: ReadonlyArray<Group.Group>): Sum => {
  const rewards = groups.flatMap(({ rewards }) => rewards)
  return { answers: rewards.length, total: rewards.reduce((total, reward) => total + reward, 0) }
}
