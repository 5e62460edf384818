/** What a prompt shows: records of work and scored instructions as text, within a budget of tokens. */
import { PlainText } from "@inspo/domain"
import { Array as Arr, Order } from "effect"
import { bestFirst, type Scored } from "./internal/Tried.ts"
import type { ProposeRequest } from "./Proposer.ts"
import { isAttempt, type ReflectiveRecord } from "./ReflectiveRecord.ts"

/** Counts the tokens of a text; see `estimateTokens` for one that needs no tokenizer. */
type CountTokens = (text: string) => number

/**
 * Attempts of agents of inspo as `<example>` blocks: question, response turn by turn with its observations, and the correct answer.
 *
 * Their texts are untrusted: a passage may say anything. Every angle bracket in them is written as ‹ or ›, except in the
 * `tags` of the instruction where the agent wrote them, so no text can close its block or open a candidate. The blocks
 * themselves depend on nothing but the number of attempts and turns.
 *
 * Where all is longer than `budget`, the longest observations are shortened first, then the longest turns, then questions
 * and answers; a note in place says how long each was. The blocks are never left out.
 */
export const examples = (
  attempts: ReadonlyArray<ReflectiveRecord>,
  tags: ReadonlyArray<string>,
  budget: number,
  count: CountTokens
): string => {
  const example = ({ expected = [], task = "", transcript }: ReflectiveRecord, show: Show) => [
    "<example>",
    `<question>${show("other", quoteText(task))}</question>`,
    "<response>",
    ...(isAttempt(transcript) ? transcript.turns : []).flatMap(({ observation, text }) => [
      `<turn>${show("turn", quoteText(text.trim(), tags))}</turn>`,
      ...(observation === null
        ? []
        : [`<observation>${show("observation", quoteText(observation.trim()))}</observation>`])
    ]),
    "</response>",
    `<correct_answer>${show("other", quoteText(expected.join(" | ")))}</correct_answer>`,
    "</example>"
  ]
  return within(budget, count, (show) => attempts.flatMap((attempt) => example(attempt, show)).join("\n"))
}

/**
 * Records of work as `<record>` blocks, in their order: score, task, transcript, feedback and what was expected, as far as they
 * were reported.
 *
 * Their texts are untrusted. Every angle bracket in them is written as ‹ or ›, and every character that shows nothing by its
 * number, so no text can close its block or open another. The blocks themselves depend on nothing but which of these a record
 * has, the number of its turns, and letters and digits of their roles. Where all is longer than `budget`, the longest turns
 * are shortened first, then the rest.
 */
export const records = (work: ReadonlyArray<ReflectiveRecord>, budget: number, count: CountTokens): string => {
  const record = ({ expected = [], feedback, score, task, transcript }: ReflectiveRecord, show: Show) => {
    const quoted = (kind: Kind, text: string) => show(kind, quoteText(PlainText.escape(text.trim())))
    const block = (tag: string, kind: Kind, text: string | undefined) =>
      text === undefined ? [] : [`<${tag}>${quoted(kind, text)}</${tag}>`]
    return [
      "<record>",
      `<score>${Math.round(100 * score)}</score>`,
      ...block("task", "other", task),
      ...(transcript === undefined || typeof transcript === "string"
        ? block("transcript", "turn", transcript)
        : [
            "<transcript>",
            ...messagesOf(transcript).map(
              ({ content, role }) => `<turn by="${plainRole(role)}">${quoted("turn", content)}</turn>`
            ),
            "</transcript>"
          ]),
      ...block("feedback", "other", feedback),
      ...block("expected", "other", expected.length === 0 ? undefined : expected.join(" | ")),
      "</record>"
    ]
  }
  return within(budget, count, (show) => work.flatMap((one) => record(one, show)).join("\n"))
}

const messagesOf = (transcript: Exclude<ReflectiveRecord["transcript"], string | undefined>) =>
  isAttempt(transcript)
    ? transcript.turns.flatMap(({ observation, text }) => [
        { role: "assistant", content: text },
        ...(observation === null ? [] : [{ role: "tool", content: observation }])
      ])
    : transcript

const plainRole = (role: string): string =>
  role
    .slice(0, 40)
    .replace(/[^\p{L}\p{N}_-]+/gu, " ")
    .trim()

/**
 * Scored instructions as one `<history>` block, from the lowest score to the highest, as `<ins_i>` with `<score_i>` in 0-100.
 * Where the budget is too small for all, the highest are shown.
 */
export const history = (scored: ProposeRequest["history"], budget: number, count: CountTokens): string => {
  let spent = 0
  const kept = bestFirst(scored).filter(
    ({ instruction }, rank) => (spent += count(instruction.text) + 20) <= budget || rank === 0
  )
  return historyBlock(kept)
}

/** Of the instructions that {@link tried} shows besides the parent, so many have the highest scores. */
const bestShown = 4

/** And so many have the lowest: fewer, since what to keep says more than what to leave out. */
const worstShown = 2

/**
 * What was tried besides a parent, as one `<history>` block like that of {@link history}: the best, the worst, and the parent to
 * compare them with. Only whole instructions are shown, the most important first, and nothing where only the parent has a
 * score or fits into the budget.
 */
export const tried = (
  scored: ProposeRequest["history"],
  parent: ProposeRequest["parent"],
  budget: number,
  count: CountTokens
): string => {
  const isOwn = ({ instruction }: Scored) => instruction.text === parent.text
  const fits = (shown: ReadonlyArray<Scored>) => count(historyBlock(shown)) <= budget
  const others = bestFirst(scored.filter((one) => !isOwn(one) && fits([one])))
  const best = Arr.take(others, bestShown)
  const worst = Arr.takeRight(Arr.drop(others, bestShown), worstShown).toReversed()
  const kept: Array<Scored> = []
  for (const one of [...Arr.take(best, 1), ...Arr.takeRight(scored.filter(isOwn), 1), ...Arr.drop(best, 1), ...worst])
    if (fits([...kept, one])) kept.push(one)
  return kept.every(isOwn) ? "" : historyBlock(kept)
}

const historyBlock = (scored: ReadonlyArray<Scored>): string => {
  const entries = bestFirst(scored)
    .toReversed()
    .map(({ instruction, score }, index) => {
      const number = index + 1
      const text = withoutPromptTags(instruction.text).replace(historyTag, "‹$1›")
      return `<ins_${number}>\n${text}\n</ins_${number}>\n<score_${number}>${Math.round(100 * score)}</score_${number}>`
    })
  return ["<history>", ...entries, "</history>"].join("\n")
}

/** An instruction could close its block with it. */
const historyTag = /<(\s*(?:\/\s*)?history\s*)>/giu

/** An instruction as it is shown: tags of the prompt lose their brackets, all others stay. */
export const withoutPromptTags = (text: string): string =>
  text.replace(/<(\s*(?:\/\s*)?(?:ins|score)[_ -]?\d+\s*)>/giu, "‹$1›")

/** Text from outside with ‹ and › for angle brackets, except in the tags named. */
const quoteText = (text: string, tags: ReadonlyArray<string> = []): string => {
  const kept = new Set(tags.flatMap((tag) => (reserved.test(tag) ? [] : [`<${tag}>`, `</${tag}>`])))
  return text
    .split(/(<\/?[a-z][\w-]*>)/giu)
    .map((part) => (kept.has(part) ? part : part.replaceAll("<", "‹").replaceAll(">", "›")))
    .join("")
}

/** Names that the blocks are made of. */
const reserved = /^(?:ins_?\d+|score_?\d+|history|example|question|response|turn|observation|correct_answer)$/iu

type Kind = "observation" | "turn" | "other"

interface Piece {
  readonly kind: Kind
  readonly text: string
}

/** A text as it fits; its kind says in which order texts are shortened. */
type Show = (kind: Kind, text: string) => string

/** What `write` makes of its texts, which are shortened until all of it is within the budget. */
const within = (budget: number, count: CountTokens, write: (show: Show) => string): string => {
  const pieces: Array<Piece> = []
  const frame = write((kind, text) => {
    pieces.push({ kind, text })
    return ""
  })
  const limits = share(pieces, Math.max(0, budget - count(frame)), count)
  return write((kind, text) => shorten(text, limits[kind], count))
}

/** The most tokens that a text of each kind may have for all of them to stay within a budget. */
const share = (pieces: ReadonlyArray<Piece>, budget: number, count: CountTokens): Readonly<Record<Kind, number>> => {
  const sizes = { observation: sizesOf("observation"), turn: sizesOf("turn"), other: sizesOf("other") }
  const other = cap(sizes.other, budget)
  const turn = cap(sizes.turn, budget - total(sizes.other, other))
  const observation = cap(sizes.observation, budget - total(sizes.other, other) - total(sizes.turn, turn))
  return { observation, turn, other }

  function sizesOf(kind: Kind): ReadonlyArray<number> {
    return pieces.flatMap((piece) => (piece.kind === kind ? [count(piece.text)] : []))
  }
}

const total = (sizes: ReadonlyArray<number>, limit: number): number =>
  sizes.reduce((sum, size) => sum + Math.min(size, limit), 0)

/** The largest limit under which sizes sum up to a budget at most: the longest are cut to one length. */
const cap = (sizes: ReadonlyArray<number>, budget: number): number => {
  if (total(sizes, Infinity) <= budget) return Infinity
  let rest = Math.max(0, budget)
  const ascending = Arr.sort(sizes, Order.Number)
  for (const [index, size] of ascending.entries()) {
    const even = Math.floor(rest / (ascending.length - index))
    if (size > even) return even
    rest -= size
  }
  return Infinity
}

/** The beginning and the end of a quoted text within so many tokens, with a note on what is left out between them. */
const shorten = (text: string, limit: number, count: CountTokens): string => {
  const size = count(text)
  if (size <= limit) return text
  const note = ` [… ${size} tokens, shortened …] `
  const kept = (letters: number) => {
    const head = Math.ceil((letters * 2) / 3)
    const [beginning, end] = [text.slice(0, head), text.slice(text.length - (letters - head))]
    return `${beginning.replace(tagCutOff, "")}${note}${end.replace(restOfTag, "")}`.toWellFormed()
  }
  if (count(note) > limit) return ""
  let [fits, tooLong] = [0, text.length]
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (count(kept(middle)) <= limit) fits = middle
    else tooLong = middle
  }
  return kept(fits)
}

/** What a cut through a tag leaves before and after it; quoted texts have angle brackets in tags only. */
const tagCutOff = /<[^>]*$/u
const restOfTag = /^[^<]*>/u
