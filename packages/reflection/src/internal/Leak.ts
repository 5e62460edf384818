/** Whether a text reveals an answer, however the answer is dressed up. */
import { Array as Arr, Equivalence } from "effect"
import { clauses } from "../ClauseBank.ts"
import * as Words from "./Words.ts"

/**
 * Whether a text holds one of the answers: in letters of any case, width, style or accent, joined, spaced, hyphenated,
 * or with tags or invisible characters within, and, of four letters or more, inside a word that neither `trusted` nor everyday
 * English has. Answers that say nothing about their question (yes, 2), and those in `trusted`, are no secret. An
 * answer of everyday words counts where it is written as a name: `May`, `The Who`.
 */
export const reveals = (answers: ReadonlyArray<string>, trusted: string): ((text: string) => boolean) => {
  const own = read(trusted)
  const words = new Set(own.anyCase.words)
  const isWord = (word: string): boolean => words.has(word) || isCommon(word)
  const secrets = answers.flatMap((answer) => secret(answer, isWord)).filter((sought) => !sought.isWritten(own))
  return (text) => {
    const whole = read(text)
    const plain = read(Words.withoutTags(Words.fold(text, "as written")))
    return secrets.some(({ isIn }) => isIn(whole) || isIn(plain))
  }
}

/** A text as its pieces: words, numbers, and single letters of scripts that write no spaces. */
interface Reading {
  readonly anyCase: Pieces
  readonly asWritten: Pieces
}

/** `all` is every piece after the other; `starts` says where each begins, and last where the text ends. */
interface Pieces {
  readonly words: ReadonlyArray<string>
  readonly all: string
  readonly starts: ReadonlyArray<number>
}

const read = (text: string): Reading => {
  const written = Words.fold(text, "as written").replace(seam, " ")
  return { anyCase: pieces(Words.fold(written)), asWritten: pieces(written) }
}

const pieces = (folded: string): Pieces => {
  const words = folded.match(piece) ?? []
  const starts = [0]
  for (const word of words) starts.push((starts.at(-1) ?? 0) + word.length)
  return { words, all: words.join(""), starts }
}

/** Where words are stuck together: before a capital letter, as in theAnswerIsParis, and between scripts. */
const seam =
  /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{scx=Latin})(?=[\p{L}--\p{scx=Latin}])|(?<=[\p{L}--\p{scx=Latin}])(?=\p{scx=Latin})/gv

const unspaced = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]`
const piece = new RegExp(String.raw`[[\p{L}\p{M}]&&${unspaced}]|[[\p{L}\p{M}]--${unspaced}]+|\p{N}+`, "gv")

/** `isWritten` finds words, wherever the gaps are; `isIn` also what is stuck to other letters. */
interface Secret {
  readonly isWritten: (text: Reading) => boolean
  readonly isIn: (text: Reading) => boolean
}

const secret = (answer: string, isWord: (word: string) => boolean): ReadonlyArray<Secret> => {
  const { anyCase, asWritten } = read(answer)
  const { words } = anyCase
  // Letters in a row are a name: U.S.
  if (words.length > 1 ? words.every((word) => nothing.has(word) || /^\d$/u.test(word)) : words.every(saysNothing))
    return []
  if (words.every(isCommon)) {
    const isWritten = (text: Reading) => hits(text.asWritten, asWritten.words).some(isSpelled(asWritten.words))
    return asWritten.all === anyCase.all ? [] : [{ isWritten, isIn: isWritten }]
  }
  // Scoring leaves articles out, so that the answer is revealed without its own.
  const bare = articles.has(words[0] ?? "") ? words.slice(1) : words
  const forms = bare === words ? [words] : [bare, words]
  const among = (text: Reading, reveals: (form: ReadonlyArray<string>) => (hit: Hit) => boolean) =>
    forms.some((form) => hits(text.anyCase, form).some(reveals(form)))
  return [
    {
      isWritten: (text) => among(text, isSpelled),
      isIn: (text) => among(text, (form) => (hit) => isSpelled(form)(hit) || isGlued(form, isWord)(hit))
    }
  ]
}

/** Pieces in a row that hold the letters of some words, and `parts`, what each of them gives to it. */
interface Hit {
  readonly found: ReadonlyArray<string>
  readonly parts: ReadonlyArray<string>
}

const hits = ({ all, starts, words }: Pieces, sought: ReadonlyArray<string>): ReadonlyArray<Hit> => {
  const spelled = sought.join("")
  const found: Array<Hit> = []
  for (let at = all.indexOf(spelled); at >= 0; at = all.indexOf(spelled, at + 1)) {
    const end = at + spelled.length
    const first = starts.findLastIndex((start) => start <= at)
    const last = starts.findIndex((start) => start >= end)
    found.push({
      found: words.slice(first, last),
      parts: starts
        .slice(first, last)
        .map((start, index) => all.slice(Math.max(at, start), Math.min(end, starts[first + index + 1] ?? end)))
    })
  }
  return found
}

/** Whole pieces, wherever the gaps are. */
const isSpelled =
  (sought: ReadonlyArray<string>) =>
  ({ found, parts }: Hit): boolean =>
    same(found, parts) &&
    // "I ran" and "at one" happen to spell Iran and atone.
    (same(found, sought) || !found.every((word) => word.length > 1 && isCommon(word.toLowerCase())))

/** Shorter names are in too many words by chance. */
const shortestGlued = 4

/** A letter may be two after folding, as ß is. */
const letter = 2

/** With other letters stuck to it, in a word that is none: in one piece, with the gaps of the answer, or letter by letter. */
const isGlued =
  (sought: ReadonlyArray<string>, isWord: (word: string) => boolean) =>
  ({ found, parts }: Hit): boolean => {
    const torn = found.filter((word, index) => word !== parts[index])
    return (
      torn.length > 0 &&
      parts.join("").length >= shortestGlued &&
      (parts.length === 1 || same(parts, sought) || parts.every(({ length }) => length <= letter)) &&
      !torn.some((word) => /^\p{N}/u.test(word) || isWord(word))
    )
  }

const same = Arr.makeEquivalence<string>(Equivalence.strictEqual())

const wordSet = (text: string): ReadonlySet<string> => new Set(Words.of(text))

const articles = wordSet("a an the")

/** Single letters, one-digit numbers, and these say nothing. */
const saysNothing = (word: string): boolean => /^[a-z\d]$/u.test(word) || nothing.has(word)

const nothing = wordSet(
  `yes no true false none both neither either unknown zero one two three four five six seven eight nine ten 10
  ja nein oui non sí si sim não da нет да 是 否 有 无 無 对 對 错 錯 不 一 二 三 四 五 六 七 八 九 十 네 예`
)

const isCommon = (word: string): boolean => common.has(word) || saysNothing(word)

/** What English cannot do without, and what instructions are made of. */
const common: ReadonlySet<string> = new Set([
  ...wordSet(
    `i me my we us our you your he him his she her it its they them their who whom whose which what this that these those
    a an the and or but nor so if then else than as at by for from in into of off on onto out over to up with within without
    about above after again against along among around away back before behind below beneath beside between beyond down during
    near next per since through toward under until upon via am are be been being is was were do does did done doing has have
    had having can could may might must shall should will would not never always only also too very just more most much many
    few fewer less least some any all each every other another same such own first second third last once twice when where why
    how here there now while because though whether else yet still even well good better best new old long short full whole
    single right wrong left sure exact certain clear brief plain simple different true final key main part parts kind way
    answer answers question questions search searches query queries result results document documents passage passages page
    pages text texts title fact facts evidence source sources information name names person people place date year number
    word words sentence sentences line lines list step steps turn turns tag tags tool tools task rule rules example examples
    think thought reason read write say state tell ask find look check use give take make keep put go get stop begin start end
    follow need want know let try call set show see come turn break combine compare confirm verify repeat return avoid include
    comparison comparisons man men woman women exclude enough needed possible important relevant direct directly carefully step-by-step`
  ),
  ...clauses.flatMap(({ texts }) => texts.flatMap((text) => Words.of(text)))
])
