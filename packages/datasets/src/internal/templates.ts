/** One sentence per article; `{self}` is the entity, the other slots are its relations. */
export const articles = {
  person: "{self} was born in {birthplace}, works at {employer} and was taught by {teacher}.",
  town: "{self} was founded in {founded}, lies on {river} and its mayor is {mayor}.",
  company: "{self} was founded by {founder} in {founded} and is based in {headquarters}.",
  river: "{self} rises in {source}."
} as const

/** One sentence per fact; `{x}` is the entity and `{y}` the value. */
export const statements = {
  birthplace: "{x} was born in {y}.",
  employer: "{x} works at {y}.",
  teacher: "{x} was taught by {y}.",
  founder: "{x} was founded by {y}.",
  headquarters: "{x} is based in {y}.",
  founded: "{x} was founded in {y}.",
  mayor: "The mayor of {x} is {y}.",
  river: "{x} lies on {y}.",
  source: "{x} rises in {y}."
} as const

/** Questions for the value of a relation of `{x}`. */
export const questions = {
  birthplace: ["Where was {x} born?", "In which town was {x} born?", "What is the birthplace of {x}?"],
  employer: ["Where does {x} work?", "At which company does {x} work?", "Who is the employer of {x}?"],
  teacher: ["Who taught {x}?", "Who is the teacher of {x}?", "By whom was {x} taught?"],
  founder: ["Who founded {x}?", "Who is the founder of {x}?", "By whom was {x} founded?"],
  headquarters: ["Where is {x} based?", "In which town is {x} based?", "What is the seat of {x}?"],
  founded: ["When was {x} founded?", "In which year was {x} founded?"],
  mayor: ["Who is the mayor of {x}?", "Which person is mayor of {x}?"],
  river: ["On which river does {x} lie?", "Which river runs through {x}?"],
  source: ["Where does {x} rise?", "In which town does {x} rise?", "What is the source of {x}?"]
} as const

/** Descriptions of an entity by a relation that leads to it from `{x}`: the inner links of a chain. */
export const descriptions = {
  birthplace: ["the birthplace of {x}"],
  employer: ["the employer of {x}"],
  teacher: ["the teacher of {x}", "the person who taught {x}"],
  founder: ["the founder of {x}", "the person who founded {x}"],
  headquarters: ["the seat of {x}", "the home of {x}"],
  mayor: ["the mayor of {x}"],
  river: ["the river of {x}", "the river through {x}"],
  source: ["the source of {x}"]
} as const

/** Which of two entities is older (`first`) or younger (`later`). */
export const comparisons = {
  first: ["Which was founded first, {x} or {y}?", "Which is older, {x} or {y}?"],
  later: ["Which was founded later, {x} or {y}?", "Which is younger, {x} or {y}?"]
} as const

/** Other accepted ways to write an answer; `{first}` and `{last}` are the words of its name. */
export const aliases = {
  person: ["{last}, {first}"],
  town: ["the town of {first} {last}"],
  company: ["the company {first} {last}"],
  river: ["the river {first} {last}"],
  year: ["the year {first}"]
} as const

/** The name of an entity within a sentence. */
export const mentions = { person: "{x}", town: "{x}", company: "{x}", river: "the river {x}" } as const

/** Fills the slots of a template and starts the sentence with a capital. */
export const fill = (template: string, slots: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/gu, (slot, name: string) => slots[name] ?? slot)

export const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Every word of the templates, as written there. */
export const words: ReadonlyArray<string> = leaves([
  articles,
  statements,
  questions,
  descriptions,
  comparisons,
  aliases,
  mentions
]).flatMap((template) => {
  const text = template.replaceAll(/\{\w+\}/gu, " ")
  return [text, sentence(text)].flatMap((text) => text.match(/\w+/gu) ?? [])
})

function leaves(tree: Tree): ReadonlyArray<string> {
  return typeof tree === "string" ? [tree] : Object.values(tree).flatMap(leaves)
}

type Tree = string | ReadonlyArray<Tree> | { readonly [key: string]: Tree }
