/** The verbs that evaluate agents and list methods. */
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, reader, trusting } from "./handler.ts"

const instruction = (name: string, description: string) => flags.optionalText(name, "TEXT", description)

export const evaluate = Command.make(
  "eval",
  {
    directory: Argument.optional(
      flags.argument("dir", "Directory of a run that has a checkpoint; without it, the shipped policy")
    ),
    instruction: instruction("instruction", "Instruction to use instead of the best one of the run"),
    policy: flags
      .choice("policy", ["before", "after"], "The policy before or after training")
      .pipe(Flag.withDefault("after")),
    agent: flags.player("agent", "Agent to use instead of the one in the config"),
    split: flags
      .choice("split", ["test", "validation", "train", "all"], "Questions to use")
      .pipe(Flag.withDefault("test")),
    questions: flags.optionalInteger("questions", "Only the first N of them"),
    against: flags.optionalText(
      "against",
      "DIR",
      "Compare with another run, under its best instruction, on the questions of the first"
    ),
    againstInstruction: instruction("against-instruction", "Compare with this instruction"),
    againstPolicy: flags.optionalChoice(
      "against-policy",
      ["before", "after"],
      "Compare with the policy before or after training"
    ),
    againstAgent: flags.player("against-agent", "Compare with another agent"),
    resamples: flags.integer("resamples", "Bootstrap resamples of every interval").pipe(Flag.withDefault(2000)),
    seed: flags.optionalInteger("seed", "Seed of answers and resamples; that of the run by default"),
    preset: flags.preset,
    set: flags.set,
    plan: flags.toggle("plan", "Print who would answer, and what would be started and connected to; ask nothing"),
    trust: flags.trust,
    json: flags.json
  },
  trusting(handler(async () => (await import("../eval/Evaluate.ts")).evaluate))
).pipe(
  flags.help({
    short: "Evaluate the policy of a run on questions, and compare",
    description: [
      "Evaluate the policy of a run on questions, and compare it with another question by question",
      "",
      "Exact match and word F1 are reported by data source, over all questions, and as the mean over sources, with 95 %",
      "bootstrap intervals over questions. --set changes settings of the run, --preset those without a run.",
      "--json prints one line: {runDir, policy, step, agent, instruction, seed, resamples, n, failed, em, ci95, f1, f1Ci95,",
      "reward, toolCalls, turns, responseTokens, finishReasons, macro, bySource, against}, where bySource repeats the fields",
      "from n on for each source, macro is {sources, em, ci95, f1, f1Ci95}, and against is null or the second agent with",
      "the same fields and comparison: {n, em, f1}, each {mean, ci95, macro, macroCi95, better, worse, p}, first minus second."
    ].join("\n"),
    examples: {
      "inspo eval runs/quick-seed1 --questions 100": "The trained policy, best instruction",
      'inspo eval runs/quick-seed1 --policy before --instruction "Answer the question."':
        "The policy it started from, under your own words",
      'inspo eval runs/quick-seed1 --against-instruction "Answer the question."':
        "Two instructions under one policy, paired by question",
      "inspo eval runs/mine --against runs/quick-seed1": "Two runs on the same questions",
      'inspo eval runs/quick-seed1 --agent "python agent.py" --against-agent search-r1':
        "An agent of your own, which asks the trained policy, beside inspo's",
      "inspo eval --split all --set data.questions=hotpotqa.jsonl --set data.corpus=corpus.jsonl":
        "The shipped policy on your questions"
    }
  })
)

export const methods = Command.make(
  "methods",
  { json: flags.json },
  reader(async () => (await import("../methods/Methods.ts")).methods)
).pipe(
  flags.help({
    short: "List the methods of policy optimization",
    description: [
      "List the methods of policy optimization: advantages, losses, credit, choices, corrections, rewards, replay",
      "",
      "Certainty: `code` was read in the authors' code, `text` in their paper, and of `part` a detail or a constant is not",
      "published. --json prints a list of {name, family, formula, description, source, certainty, verl, trl, needs, setting,",
      "constants}: setting is the one that takes the name, or null, and a constant that is null must be given."
    ].join("\n"),
    examples: {
      "inspo methods": "Formula, source and certainty of each",
      "inspo run --set train.advantage=leave-one-out": "One of them in a run"
    }
  })
)
