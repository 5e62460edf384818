/** One prompt, improved step by step: a baseline without a population and without a test. */
import { trials } from "./host.mjs"

const optimize = async ({ ask, cases, prompt, propose, settings }) => {
  let parent = prompt
  for (let first = 0; ; first += settings.cases) {
    const tickets = Array.from({ length: settings.cases }, (_, place) => (first + place) % cases)
    const answersOf = async (text) => {
      const answers = []
      for (const ticket of tickets) answers.push(await ask(text, ticket))
      return answers.includes(null) ? null : answers
    }
    const own = await answersOf(parent)
    if (own === null) return parent
    const [child] = await propose(parent, own.map(({ feedback }) => feedback).join("\n"), 1)
    const others = await answersOf(child)
    if (others === null) return parent
    if (total(others) > total(own)) parent = child
  }
}

const total = (answers) => answers.reduce((sum, { score }) => sum + score, 0)

await trials(optimize)
