/** What the language models of a run write. */
import type { Write } from "./CountedModel.ts"

/** Two candidates that add hints to the instruction in question; the second revision of an instruction may have to be asked for once more. */
export const proposer: Write = (conversation) => {
  const [prompt = ""] = conversation
  const [, parent = ""] = /<ins_0>\n([\s\S]*?)\n<\/ins_0>/u.exec(prompt) ?? []
  const first = hints[prompt.length % hints.length] ?? ""
  const second = hints[(prompt.length + conversation.length) % hints.length] ?? ""
  const candidates = [`${parent} ${first}`, `${parent} ${first} ${second}`]
  const few = conversation.length === 1 && prompt.includes("<example>") && prompt.length % 2 === 0
  return candidates
    .slice(0, few ? 1 : 2)
    .map((text, index) => `<ins_${index + 1}>${text}</ins_${index + 1}>`)
    .join("\n")
}

const hints = [
  "Give the name only.",
  "Search before every answer.",
  "Read each passage twice.",
  "Prefer the most recent source.",
  "Never guess.",
  "Check the question once more."
]

/** Whether the given answer is one of the accepted ones. */
export const judge: Write = ([prompt = ""]) => {
  const [, given = ""] = /<given>(.*?)<\/given>/su.exec(prompt) ?? []
  const accepted = Array.from(prompt.matchAll(/<accepted>(.*?)<\/accepted>/gsu), ([, text]) => text)
  return `Compared word by word. <score>${accepted.includes(given) ? 1 : 0}</score>`
}
