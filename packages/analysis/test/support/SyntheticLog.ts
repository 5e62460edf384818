import { type Algorithm, type RunEvent, Strategies } from "@inspo/coevolution"
import { Question, Trajectory } from "@inspo/domain"
import { Array as Arr, Hash } from "effect"
import { DryRun } from "@inspo/analysis"

/** Training questions of two sources. */
export const trainQuestions = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: Question.QuestionId.make(`q${index}`),
    dataSource: index % 3 === 0 ? "hard" : "easy"
  }))

/** A number in [0, 1) that depends on the name alone. */
export const chance = (name: string): number =>
  ((Math.imul(Hash.string(name), 0x9e3779b1) ^ Hash.string(name)) >>> 0) / 2 ** 32

/**
 * The events of a finished run at no cost: the loop decides, rewards are coin flips whose odds depend on the instruction,
 * and so are the scores of candidates.
 */
export const syntheticLog = (
  algorithm: Algorithm,
  questions: number,
  skillOf: (text: string) => number = (text) => 0.2 + 0.5 * chance(text)
): ReadonlyArray<RunEvent> => {
  const setting = { ...Strategies.deciding(algorithm), questions: trainQuestions(questions) }
  const base = DryRun.scripted(setting, { validation: 4, test: 4 })
  const flip = (skill: number, name: string) => (chance(`${algorithm.randomSeed} ${name}`) < skill ? 1 : 0)
  const environment: DryRun.Environment = (command, state) => {
    const event = base(command, state)
    if (event._tag === "RolloutsCollected") {
      const samples = command._tag === "Collect" ? command.plan.samples : undefined
      const skills = new Map(state.instructions.map(({ id, text }) => [id, skillOf(text)]))
      return {
        ...event,
        groups: event.groups.map((group, place) => {
          const name = `${event.step} ${group.questionId} ${group.instructionId}`
          const reward = (sample: number) => flip(skills.get(group.instructionId) ?? 0, `${name} ${sample}`)
          const each = <A>(value: (sample: number) => A) =>
            Arr.makeBy(samples?.[place] ?? algorithm.rollout.groupSize, value)
          const [trajectory] = group.trajectories
          return {
            ...group,
            rewards: each(reward),
            trajectories: each((sample) => Trajectory.TrajectoryId.make(`${trajectory}/${sample}`)),
            toolCalls: each(() => 0),
            responseTokens: each(() => 0)
          }
        })
      }
    }
    if (event._tag === "CandidatesVerified" && command._tag === "Verify") {
      const scores = (text: string) =>
        event.questions.map((id, place) => flip(skillOf(text), `${event.step} ${id} ${place} ${text}`))
      return {
        ...event,
        candidates: command.candidates.map(({ text }) => scores(text)),
        parent: command.parent === null ? null : scores(command.parent.text)
      }
    }
    return event
  }
  return [
    {
      _tag: "RunStarted",
      algorithm,
      strategies: Strategies.identities(setting.strategies),
      engine: "none",
      tokenizer: "none",
      data: "none",
      search: "passages",
      code: "none"
    },
    ...Array.from(DryRun.play(setting, DryRun.begun(setting), environment), ({ event }) => event)
  ]
}
