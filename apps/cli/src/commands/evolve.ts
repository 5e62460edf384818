/** The verb that improves a prompt. */
import { Learners } from "@inspo/reflection"
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const evolve = Command.make(
  "evolve",
  {
    prompt: flags.argument("prompt", "Text file with the prompt to improve, or a promptfoo config (.yaml or .json)"),
    cases: Argument.optional(
      flags.argument("cases", "CSV, TSV or JSONL file with the test cases; a promptfoo config has its own")
    ),
    ...flags.outside,
    model: flags.optionalText(
      "model",
      "MODEL",
      "Chat model that answers the cases: openai:NAME, anthropic:NAME, google:NAME or URL#NAME; with --agent, the model that it " +
        "should ask"
    ),
    from: flags.optionalText(
      "from",
      "MODEL",
      "Chat model that answers today, and that --model is to replace: finds a prompt that is no worse than the given one under it"
    ),
    proposer: flags.optionalText("proposer", "MODEL", "Chat model that writes prompts, and judges; --model by default"),
    proposerKind: flags.optionalChoice(
      "proposer-kind",
      Learners.learners.map(({ name }) => name),
      "How the proposer learns from what its prompts gain: its own prompt evolves, or it keeps lessons; by default it does not"
    ),
    sentences: flags.optionalText(
      "sentences",
      "FILE",
      "Text file with a sentence in each line: prompts are made by adding them, and no model writes any"
    ),
    examples: flags.toggle("examples", "Also try cases of the search with their right answers, after the prompt"),
    ...flags.scoring,
    calls: flags.integer("calls", "Most calls of the model that answers; 300 by default").pipe(Flag.withDefault(300)),
    ...flags.paying,
    seed: flags.seed,
    out: flags.out.pipe(
      Flag.withDescription(
        "Directory for everything that is written; runs/evolve-PROMPT by default. The same command continues there"
      )
    ),
    plan: flags.toggle(
      "plan",
      "Print how the budget is divided, with tokens and US dollars; ask nothing and spend nothing"
    ),
    dashboard: flags.dashboard("search"),
    aim: flags
      .choice(
        "aim",
        ["better", "shorter", "cheaper"],
        "A better prompt, or a shorter or cheaper one that is no worse; the last needs prices"
      )
      .pipe(Flag.withDefault("better")),
    margin: flags.number("margin", "aim: loss in score that is no worse; 0.05 by default").pipe(Flag.withDefault(0.05)),
    saving: flags.number("saving", "aim: least share that is saved; 0.1 by default").pipe(Flag.withDefault(0.1)),
    requirement: flags.requirement,
    json: flags.json,
    quiet: flags.quiet
  },
  handler(async () => (await import("../evolve/Evolve.ts")).evolve)
).pipe(
  flags.help({
    short: "Find a better prompt for a chat model, from test cases",
    description: [
      "Find a better prompt for a chat model, from test cases with scores. Half of the cases are held out: they decide whether the",
      "new prompt is better; if that is not shown, the prompt stays. The prompt is the system message, a case the user message.",
      "",
      "Keys are read from OPENAI_API_KEY, ANTHROPIC_API_KEY and GEMINI_API_KEY."
    ].join("\n"),
    examples: {
      "inspo evolve prompt.txt cases.csv --model openai:gpt-4.1-mini --score exact --budget 2 --plan":
        "What it would cost, before anything is spent",
      "inspo evolve prompt.txt cases.csv --model openai:gpt-4.1-mini --score exact --budget 2":
        "A prompt that is shown to be better, for at most 2 dollars",
      "inspo evolve prompt.txt cases.csv --model http://127.0.0.1:11434/v1#qwen3 --score judge --rubric rubric.txt":
        "A local model, scored by itself",
      'inspo evolve prompt.txt cases.csv --agent "python agent.py" --proposer openai:gpt-4.1-mini':
        "An agent of your own, which scores its outputs",
      "inspo evolve prompt.txt cases.csv --from openai:gpt-4.1 --model openai:gpt-4.1-mini --score exact":
        "A prompt for a new model that is no worse than yours for the old one",
      "inspo evolve promptfooconfig.yaml": "The prompt, the tests and the model of a promptfoo config"
    }
  })
)
