/** The verbs that compare prompts or models on the same cases, and ask how far their judge can be trusted. */
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const compare = Command.make(
  "compare",
  {
    prompts: flags
      .argument(
        "prompt",
        "Text files with prompts, of which the first is the control; git:REV:PATH is a file of a commit, and a text with a " +
          "space that is no file is a prompt itself"
      )
      .pipe(Argument.atLeast(1)),
    cases: flags.text(
      "cases",
      "FILE",
      "CSV, TSV or JSONL file with the test cases, or a promptfoo config with tests (.yaml or .json)"
    ),
    ...flags.outside,
    model: Flag.atLeast(
      flags.text(
        "model",
        "MODEL",
        "Chat model that answers the cases: openai:NAME, anthropic:NAME, google:NAME or URL#NAME; several models are compared " +
          "under one prompt, the first being the control; with --agent, the model that it should ask"
      ),
      0
    ),
    judge: flags.optionalText("judge", "MODEL", "Chat model that judges; the first --model by default"),
    ...flags.scoring,
    margin: flags
      .number("margin", "Loss in score that is no worse, and gain that is of no interest; 0.05 by default")
      .pipe(Flag.withDefault(0.05)),
    samples: flags.integer("samples", "Answers to each case under each prompt; 1 by default").pipe(Flag.withDefault(1)),
    looks: flags
      .choice("looks", ["anytime", "final"], "End as soon as the answers decide, or ask all cases and look once")
      .pipe(Flag.withDefault("anytime")),
    requirement: flags.requirement,
    atMost: Flag.atLeast(
      flags.text(
        "at-most",
        "METRIC=BOUND",
        "What a number beside the score may be: latency.p95=2s, usd=+0%, tokens=+5%, length=-10%, or a metric that comes with the " +
          "score; may be repeated, and the verdict includes it"
      ),
      0
    ),
    aa: flags.toggle("aa", "Compare the one prompt with itself: what noise does, and how many cases the margin needs"),
    cache: flags.optionalText(
      "cache",
      "DIR",
      "Directory with answers of earlier comparisons, which are not paid for again; new answers are added"
    ),
    calls: flags.optionalInteger("calls", "Most calls of the models that answer; by default all cases can be asked"),
    ...flags.paying,
    seed: flags.seed,
    out: flags.out.pipe(
      Flag.withDescription(
        "Directory for everything that is written; runs/compare-PROMPT by default. The same command continues there"
      )
    ),
    junit: flags.optionalText("junit", "FILE", "Write the verdicts as a JUnit report"),
    markdown: flags.optionalText("markdown", "FILE", "Write the report as Markdown, such as for a pull request"),
    json: flags.json,
    quiet: flags.quiet
  },
  handler(async () => (await import("../compare/Compare.ts")).compare)
).pipe(
  flags.help({
    short: "Say whether a prompt or model is better, no worse or worse",
    description: [
      "Say whether a prompt or a model is better than a control, no worse or worse, by the same test cases. Each verdict is wrong",
      "with a probability of at most 5 %, for all candidates together, although the comparison ends as soon as it knows.",
      "",
      "--json prints one document {directory, control, candidates, requirement, isMet, margin, samples, looks, bound, calls, usd,",
      "cached, lost, isCut, cases}; a candidate is {prompt, verdict, isMet, gain, score, cases, needed, lost, open, constraints,",
      "improved, worsened, missing, course, noise}."
    ].join("\n"),
    examples: {
      "inspo compare prompt.txt --aa --cases cases.csv --model openai:gpt-4.1-mini --score exact":
        "What noise alone does, first of all",
      "inspo compare git:main:prompt.txt prompt.txt --cases cases.csv --model openai:gpt-4.1-mini --score exact --require no-worse":
        "Whether a change is no worse, in the exit status",
      "inspo compare prompt.txt --cases cases.csv --model openai:gpt-4.1 --model openai:gpt-4.1-mini --score exact":
        "Whether another model does as well"
    }
  })
)

export const judge = Command.make(
  "judge",
  {
    directory: flags.argument("dir", "Directory of a comparison"),
    count: flags.integer("cases", "Cases to label, drawn at random; 40 by default").pipe(Flag.withDefault(40)),
    seed: flags.seed,
    json: flags.json
  },
  handler(async () => (await import("../judge/Judge.ts")).judge)
).pipe(
  flags.help({
    short: "Say how far a judge can be trusted, and correct a verdict by labels",
    description:
      "Write answers of a comparison into DIR/to-label.csv; once they have labels, say how far the scores agree with them, how much " +
      "higher they are where answers are long or short, and how the prompts differ, which the labels correct without bias.",
    examples: { "inspo judge runs/compare-prompt": "Answers to label, then what the labels show" }
  })
)
