/** What a prompt shows: failures and scored instructions as text, within a budget of tokens. */
import type { Failure } from "@inspo/domain/Experience"
import * as PlainText from "@inspo/domain/PlainText"
import { Array as Arr, Order } from "effect"
import type { ProposeRequest } from "./Proposer.ts"
import type { WorkRecord } from "./WorkRecord.ts"

/** Counts the tokens of a text; see `TokenEstimate` for one that needs no tokenizer. */
export type CountTokens = (text: string) => number

/**
 * Failures as `<example>` blocks: question, response turn by turn with its observations, and the correct answer.
 *
 * Their texts are untrusted: a passage may say anything. Every angle bracket in them is written as ‹ or ›, except in the
 * `tags` of the instruction where the agent wrote them, so no text can close its block or open a candidate. The blocks
 * themselves depend on nothing but the number of failures and turns.
 *
 * Where all is longer than `budget`, the longest observations are shortened first, then the longest turns, then questions
 * and answers; a note in place says how long each was. The blocks are never left out.
 */
export const examples = (
  failures: ReadonlyArray<Failure>,
  tags: ReadonlyArray<string>,
  budget: number,
  count: CountTokens
): string => {
  const quoted = failures.map((failure) => quote(failure, tags))
  const texts = quoted.flatMap(piecesOf)
  const frame = count(quoted.map((failure) => render(failure, () => "")).join("\n"))
  const limits = share(texts, Math.max(0, budget - frame), count)
  return quoted.map((failure) => render(failure, ({ kind, text }) => shorten(text, limits[kind], count))).join("\n")
}

/**
 * Records of work as `<record>` blocks, in their order: score, task, transcript, feedback and what was expected, as far as they
 * were told.
 *
 * Their texts are untrusted. Every angle bracket in them is written as ‹ or ›, and every character that shows nothing by its
 * number, so no text can close its block or open another. The blocks themselves depend on nothing but which of these a record
 * has, the number of its turns, and letters and digits of their roles. Where all is longer than `budget`, the longest turns
 * are shortened first, then the rest.
 */
export const records = (work: ReadonlyArray<WorkRecord>, budget: number, count: CountTokens): string => {
  const pieces: Array<Piece> = []
  const place = (kind: Kind, text: string) => {
    pieces.push({ kind, text: quoteText(PlainText.escape(text.trim())) })
    return pieces.length - 1
  }
  const placed = work.map(({ expected, feedback, score, task, transcript }) => ({
    score,
    task: task === undefined ? null : place("other", task),
    transcript:
      transcript === undefined
        ? null
        : typeof transcript === "string"
          ? place("turn", transcript)
          : transcript.map(({ content, role }) => ({ role: plainRole(role), content: place("turn", content) })),
    feedback: feedback === undefined ? null : place("other", feedback),
    expected: expected === undefined || expected.length === 0 ? null : place("other", expected.join(" | "))
  }))
  const rendered = (show: (piece: Piece) => string) => {
    const at = (index: number) => show(pieces[index] ?? { kind: "other", text: "" })
    const block = (tag: string, index: number | null) => (index === null ? [] : [`<${tag}>${at(index)}</${tag}>`])
    return placed
      .flatMap(({ expected, feedback, score, task, transcript }) => [
        "<record>",
        `<score>${Math.round(100 * score)}</score>`,
        ...block("task", task),
        ...(Array.isArray(transcript)
          ? [
              "<transcript>",
              ...transcript.map(({ content, role }) => `<turn by="${role}">${at(content)}</turn>`),
              "</transcript>"
            ]
          : block("transcript", transcript)),
        ...block("feedback", feedback),
        ...block("expected", expected),
        "</record>"
      ])
      .join("\n")
  }
  const limits = share(pieces, Math.max(0, budget - count(rendered(() => ""))), count)
  return rendered(({ kind, text }) => shorten(text, limits[kind], count))
}

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
  const best = Arr.sort(scored, Order.flip(byScore))
  let spent = 0
  const kept = best.filter(({ instruction }, rank) => (spent += count(instruction.text) + 20) <= budget || rank === 0)
  const entries = kept.toReversed().map(({ instruction, score }, index) => {
    const number = index + 1
    const text = withoutPromptTags(instruction.text)
    return `<ins_${number}>\n${text}\n</ins_${number}>\n<score_${number}>${Math.round(100 * score)}</score_${number}>`
  })
  return ["<history>", ...entries, "</history>"].join("\n")
}

/** An instruction as it is shown: tags of the prompt lose their brackets, all others stay. */
export const withoutPromptTags = (text: string): string =>
  text.replace(/<(\s*(?:\/\s*)?(?:ins|score)[_ -]?\d+\s*)>/giu, "‹$1›")

/** Text from outside with ‹ and › for angle brackets, except in the tags named. */
export const quoteText = (text: string, tags: ReadonlyArray<string> = []): string => {
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

interface Quoted {
  readonly question: Piece
  readonly turns: ReadonlyArray<{ readonly text: Piece; readonly observation: Piece | null }>
  readonly answer: Piece
}

const quote = ({ goldenAnswers, question, transcript }: Failure, tags: ReadonlyArray<string>): Quoted => ({
  question: { kind: "other", text: quoteText(question) },
  turns: transcript.map(({ observation, text }) => ({
    text: { kind: "turn", text: quoteText(text.trim(), tags) },
    observation: observation === null ? null : { kind: "observation", text: quoteText(observation.trim()) }
  })),
  answer: { kind: "other", text: quoteText(goldenAnswers.join(" | ")) }
})

const piecesOf = ({ answer, question, turns }: Quoted): ReadonlyArray<Piece> => [
  question,
  ...turns.flatMap(({ observation, text }) => (observation === null ? [text] : [text, observation])),
  answer
]

const render = ({ answer, question, turns }: Quoted, show: (piece: Piece) => string): string =>
  [
    "<example>",
    `<question>${show(question)}</question>`,
    "<response>",
    ...turns.flatMap(({ observation, text }) => [
      `<turn>${show(text)}</turn>`,
      ...(observation === null ? [] : [`<observation>${show(observation)}</observation>`])
    ]),
    "</response>",
    `<correct_answer>${show(answer)}</correct_answer>`,
    "</example>"
  ].join("\n")

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

const byScore: Order.Order<ProposeRequest["history"][number]> = Order.mapInput(Order.Number, ({ score }) => score)
