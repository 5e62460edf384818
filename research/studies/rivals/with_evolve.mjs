/** `evolve()` with what the others get: one score of each output, and as many candidates as gepa. */
import { evolve } from "@inspo/evolve"
import { trials } from "./host.mjs"

const optimize = async ({ ask, calls, cases, prompt, propose, seed, settings }) => {
  const answers = []
  const found = await evolve({
    prompt,
    cases: Array.from({ length: cases }, (_, id) => ({ id })),
    // What is scored has no feedback in it: a candidate may not repeat an output.
    agent: async (text, { id }) => `label ${answers.push(await ask(text, id)) - 1}`,
    score: (output) => answers[Number(output.slice("label ".length))],
    proposer: async (request) => {
      const asked = Number(/<ins_(\d+)>(?![\s\S]*<ins_\d+>)/u.exec(request)?.[1] ?? 1)
      const [parent = prompt] = new RegExp(`${prompt}[^\\n<]*`, "u").exec(request) ?? []
      const texts = await propose(parent, request, Math.min(asked, settings.candidates))
      return texts.map((text, place) => `<ins_${place + 1}>${text}</ins_${place + 1}>`).join("\n")
    },
    budget: { calls },
    concurrency: 1,
    randomSeed: seed
  })
  return found.prompt
}

await trials(optimize)
