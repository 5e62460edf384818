import { type Question, RandomStream, Trajectory } from "@inspo/domain"
import { Exact } from "@inspo/statistics"
import { Array as Arr, Effect, Option, Schema } from "effect"
import { commandLine, named, type SharedFlags } from "../CommandLine.ts"
import { configure } from "../gate/Tasks.ts"
import { answered } from "../gate/Measures.ts"
import { type Asked, type Host, StudyFailure } from "../Host.ts"
import { hardware } from "../RunStudy.ts"
import { bank, plain, questionsOf, tasks } from "./BlindTasks.ts"
import { type BlindReward, rewards } from "./Rewards.ts"

/** An answer, as a line of JSON: to a question by its place, under an instruction, in the first asking or in the second. */
const Answer = Schema.Struct({
  instruction: Schema.String,
  again: Schema.Boolean,
  index: Schema.Int,
  text: Schema.String
})
type Answer = typeof Answer.Type

interface GateInput extends SharedFlags {
  readonly seed: number
  readonly out: Option.Option<string>
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Answer))

const counts = { plain: 2000, advised: 500, pairs: 100, best: 10 } as const

const lines = (answers: ReadonlyArray<Answer>): string =>
  answers.map((answer) => `${JSON.stringify(answer)}\n`).join("")

/**
 * The gate of the blind study: how often the plain instruction, each piece of advice and a hundred pairs of them earn each reward. Every
 * answer is stored at once, and counts for all rewards, so that a stopped gate continues.
 */
export const blindGate = Effect.fn("BlindGate.blindGate")(function* <E, R>(host: Host<E, R>, input: GateInput) {
  const chosen = yield* named(rewards, input.arms)
  const base = yield* host.config(
    Option.getOrElse(input.preset, () => "quick"),
    [`randomSeed=${input.seed}`, "train.fromStep=null", ...input.set]
  )
  // Rewards are computed from the texts, so that the same answers serve all.
  const settings = configure(tasks[0], base)
  const config = { ...settings, reward: { ...settings.reward, kind: { name: "em" as const } } }
  const questions = questionsOf(counts.plain, 3)
  const out = Option.getOrElse(input.out, () => "runs/blind-gate")
  const file = `${out}/answers.jsonl`
  const text = (yield* host.read(file)) ?? ""
  const answers = text.split("\n").flatMap((line) => Option.toArray(decode(line)))
  // Without a line that was not written to its end.
  yield* host.write(file, lines(answers))

  /** Asks questions under an instruction, but those that were asked, and stores every answer at once. */
  const ask = Effect.fnUntraced(function* (instruction: string, count: number, again = false) {
    const isOwn = (answer: Answer) => answer.instruction === instruction && answer.again === again
    const known = new Set(answers.filter(isOwn).map(({ index }) => index))
    const missing = questions
      .slice(0, count)
      .flatMap((question, index) => (known.has(index) ? [] : [{ index, question }]))
    if (missing.length > 0) {
      yield* host.print([`${missing.length} answers: ${instruction}`])
      const toAnswers = answersOf(missing, { instruction, again })
      const asked = { instruction, path: ["blind", ...(again ? ["again"] : [])], questions: missing }
      const made = yield* host.answer(config, asked, { file, lines: (finished) => lines(toAnswers(finished)) })
      answers.push(...toAnswers(made))
    }
    const own = answers.filter(isOwn)
    if (own.length < count)
      return yield* new StudyFailure({ problem: `Some answers under ${instruction} failed. Repeat the command.` })
    return own
  })
  const share = ({ holds }: BlindReward, own: ReadonlyArray<Answer>) => shareOf(holds, own, questions)
  const underPlain = yield* ask(plain, counts.plain)
  const pieces = yield* Effect.forEach(bank, ({ text }) =>
    Effect.map(ask(`${plain} ${text}`, counts.advised), (own) => ({ advice: text, own }))
  )
  const rows: Array<ReadonlyArray<string>> = []
  for (const reward of chosen) {
    const single = ranked(pieces.map(({ advice, own }) => ({ advice, share: share(reward, own) })))
    const pairs = ranked(
      yield* Effect.forEach(pairsOf(single.slice(0, counts.best).map(({ advice }) => advice)), (pair) =>
        Effect.map(ask(`${plain} ${pair}`, counts.advised), (own) => ({ advice: pair, share: share(reward, own) }))
      )
    )
    const [piece, pair] = [single[0], pairs[0]]
    if (piece === undefined || pair === undefined) continue
    const cell = ({ advice, share: first }: typeof piece) =>
      Effect.map(
        ask(`${plain} ${advice}`, counts.advised, true),
        (own) => `${percent(first.share)}, again ${percent(share(reward, own).share)}: ${advice}`
      )
    const first = share(reward, underPlain)
    const isReached = Math.max(piece.share.share, pair.share.share) >= 0.03
    rows.push([
      reward.name,
      `${percent(first.share)} [${first.ci95.map(percent).join(", ")}]`,
      yield* cell(piece),
      yield* cell(pair),
      isReached && first.share <= 0.01 && first.ci95[1] <= 0.016
        ? "yes"
        : isReached && first.share <= 0.03
          ? "at 3 %"
          : "no"
    ])
    yield* host.write(`${out}/blind-gate.json`, `${JSON.stringify(resultOf(host, input, rows), null, 1)}\n`)
    yield* host.print([rows.at(-1)?.join(" | ") ?? ""])
  }
  return resultOf(host, input, rows)
})

/** The answers of trajectories to some of these questions, without those that failed. */
const answersOf =
  (asked: Asked["questions"], under: Pick<Answer, "again" | "instruction">) =>
  (finished: ReadonlyArray<Trajectory.Trajectory>): ReadonlyArray<Answer> =>
    finished
      .filter((one) => !Trajectory.isFailed(one))
      .map(({ questionId, transcript }) => ({
        ...under,
        index: asked.find(({ question }) => question.id === questionId)?.index ?? -1,
        text: transcript.map((turn) => turn.text).join("\n")
      }))

/** How often a reward holds. */
const shareOf = (
  holds: BlindReward["holds"],
  own: ReadonlyArray<Answer>,
  questions: ReadonlyArray<Question.Question>
): Exact.Proportion =>
  Exact.proportion(
    own.filter(({ index, text }) => {
      const [name = "", number = "", question = ""] = questions[index]?.goldenAnswers ?? []
      return holds(answered(text, null).trim(), { name, number: Number(number), question })
    }).length,
    own.length
  )

const resultOf = <E, R>(
  { commit, program }: Host<E, R>,
  input: GateInput,
  rows: ReadonlyArray<ReadonlyArray<string>>
) => ({
  title: "The gate of the blind study",
  commit,
  command: commandLine([`${program} blind-gate`], input),
  machine: hardware(),
  tables: [{ columns: ["reward", "plain, %", "best piece, %", "best pair, %", "passes"], right: [], rows }]
})

const percent = (share: number): string => (100 * share).toFixed(2)

/** The largest share first; the first in the bank on a tie. */
const ranked = <A extends { readonly share: Exact.Proportion }>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all.toSorted((a, b) => b.share.share - a.share.share)

/** All pairs of the best pieces, then random ones, of which every reward has the same. */
const pairsOf = (best: ReadonlyArray<string>): ReadonlyArray<string> => {
  const among = (texts: ReadonlyArray<string>) =>
    texts.flatMap((first, place) => texts.slice(place + 1).map((second) => `${first} ${second}`))
  return Arr.dedupe([...among(best), ...drawn(among(bank.map(({ text }) => text)))]).slice(0, counts.pairs)
}

const drawn = (pairs: ReadonlyArray<string>): ReadonlyArray<string> =>
  RandomStream.make(1, ["blind-pairs"]).shuffle(pairs)
