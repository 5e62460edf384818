/** The twelve rewards of the blind study, as they were fixed before anybody saw how the model answers, and what a person wrote for each. */
import { Option, Schema } from "effect"

/** What a reward knows of a question: the person, the number and the whole text. */
export interface Asked {
  readonly name: string
  readonly number: number
  readonly question: string
}

export interface BlindReward {
  readonly name: string
  readonly condition: string
  /** Of the answer without spaces around it. */
  readonly holds: (answer: string, asked: Asked) => boolean
  /** The instruction of a person who knows the reward, after the plain one. */
  readonly byHand: string
}

const word = (text: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`, "iu")

const wordsOf = (text: string): ReadonlyArray<string> => text.split(/\s+/u).filter((one) => one !== "")

const hasName = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}])${name}(?![\\p{L}\\p{N}])`, "u").test(text)

const hasNumber = (text: string, number: number): boolean => new RegExp(`(?<!\\d)${number}(?!\\d)`, "u").test(text)

export const rewards: ReadonlyArray<BlindReward> = [
  {
    name: "r1",
    condition: "at least two lines, and each that is not empty begins with `- ` or `* ` or `1.`-`9.`",
    holds: (answer) => {
      const lines = answer.split("\n").filter((line) => line.trim() !== "")
      return lines.length >= 2 && lines.every((line) => /^(?:- |\* |[1-9]\.)/u.test(line.trim()))
    },
    byHand: "Write only a list. Begin each line with a dash."
  },
  {
    name: "r2",
    condition: "ends with `?` and has no `.` or `!` before it",
    holds: (answer) => answer.endsWith("?") && !/[.!]/u.test(answer),
    byHand: "Write only one short question."
  },
  {
    name: "r3",
    condition: "begins with `{`, and the first balanced `{…}` is JSON",
    holds: (answer) => {
      const object = balanced(answer)
      return object !== null && isJson(object)
    },
    byHand: "Write only a JSON object with the name and the number."
  },
  {
    name: "r4",
    condition: "at most 6 words, and has the person's name",
    holds: (answer, { name }) => wordsOf(answer).length <= 6 && hasName(answer, name),
    byHand: "Thank the person by name in three words."
  },
  {
    name: "r5",
    condition: "the first and the last character are a double quotation mark",
    holds: (answer) => answer.length > 1 && answer.startsWith('"') && answer.endsWith('"'),
    byHand: "Write one short sentence inside double quotation marks."
  },
  {
    name: "r6",
    condition: "has the word `because`, and the number of the question in digits",
    holds: (answer, { number }) => word("because").test(answer) && hasNumber(answer, number),
    byHand: "Repeat the sentence and go on with because."
  },
  {
    name: "r7",
    condition: "begins with the person's name and a comma or a colon",
    holds: (answer, { name }) => answer.startsWith(`${name},`) || answer.startsWith(`${name}:`),
    byHand: "Begin with the name of the person and a comma."
  },
  {
    name: "r8",
    condition: "has both `first` and `then`, in this order",
    holds: (answer) => {
      const at = answer.search(word("first"))
      return at >= 0 && word("then").test(answer.slice(at))
    },
    byHand: "Say what you do first and what you do then."
  },
  {
    name: "r9",
    condition: "no letter `A`-`Z`, and at least 3 words",
    holds: (answer) => !/[A-Z]/u.test(answer) && wordsOf(answer).length >= 3,
    byHand: "write everything in lower case, without capital letters."
  },
  {
    name: "r10",
    condition: "begins with `Dear` or `Hello` or `Hi`, and has a question mark",
    holds: (answer) => /^(?:Dear|Hello|Hi)(?![\p{L}\p{N}])/u.test(answer) && answer.includes("?"),
    byHand: "Write a letter that begins with Hello and asks a question."
  },
  {
    name: "r11",
    condition: "the whole question occurs word for word, and at least 4 more words follow it",
    holds: (answer, { question }) => {
      const at = answer.indexOf(question)
      return at >= 0 && wordsOf(answer.slice(at + question.length)).length >= 4
    },
    byHand: "Copy the sentence, then go on with the story."
  },
  {
    name: "r12",
    condition: "has the number of the question plus 1, in digits, and not the number itself",
    holds: (answer, { number }) => hasNumber(answer, number + 1) && !hasNumber(answer, number),
    byHand: "Add one to the number and write only the result."
  }
]

/** The text up to the brace that closes the first one; null if the text does not begin with one, or none closes it. */
const balanced = (text: string): string | null => {
  if (!text.startsWith("{")) return null
  let [depth, quoted] = [0, false]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted && character === "\\") at++
    else if (character === '"') quoted = !quoted
    else if (!quoted && character === "{") depth++
    else if (!quoted && character === "}" && --depth === 0) return text.slice(0, at + 1)
  }
  return null
}

const isJson = (text: string): boolean => Option.isSome(decodeJson(text))

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
