import { AgentName } from "@inspo/rollout/RolloutConfig"
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, trusting } from "./handler.ts"

const agent = (name: string, description: string) =>
  Flag.Literals(name, AgentName.literals).pipe(Flag.withDescription(description), Flag.optional)

const instruction = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TEXT"), Flag.withDescription(description), Flag.optional)

export const evaluate = Command.make(
  "eval",
  {
    directory: Argument.String("dir").pipe(
      Argument.withDescription("Directory of a run that has a checkpoint; without it, the policy that ships"),
      Argument.optional
    ),
    instruction: instruction("instruction", "Instruction to use instead of the best one of the run"),
    policy: Flag.Literals("policy", ["before", "after"]).pipe(
      Flag.withDescription("The policy before or after training"),
      Flag.withDefault("after")
    ),
    agent: agent("agent", "How the agent works, instead of what the config says"),
    split: Flag.Literals("split", ["test", "validation", "train", "all"]).pipe(
      Flag.withDescription("Which questions of the data"),
      Flag.withDefault("test")
    ),
    questions: Flag.Int("questions").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Only the first N of them"),
      Flag.optional
    ),
    against: Flag.String("against").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Compare with another run, under its best instruction, on the questions of the first"),
      Flag.optional
    ),
    againstInstruction: instruction("against-instruction", "Compare with this instruction"),
    againstPolicy: Flag.Literals("against-policy", ["before", "after"]).pipe(
      Flag.withDescription("Compare with the policy before or after training"),
      Flag.optional
    ),
    againstAgent: agent("against-agent", "Compare with another way to work"),
    resamples: Flag.Int("resamples").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Bootstrap resamples of every interval"),
      Flag.withDefault(2000)
    ),
    seed: Flag.Int("seed").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Seed of answers and resamples; that of the run by default"),
      Flag.optional
    ),
    preset: flags.preset,
    set: flags.set,
    trust: flags.trust,
    json: flags.json
  },
  ({ trust, ...input }) =>
    trusting(
      trust,
      handler(
        () => import("../eval/Evaluate.ts"),
        ({ evaluate }) => evaluate(input)
      )
    )
).pipe(
  Command.withDescription(
    [
      "Let the policy of a run answer questions, and compare it question by question",
      "",
      "Exact match and word F1 are given by data source, over all questions, and as the mean over sources, with 95 %",
      "bootstrap intervals over questions. --set changes settings of the run, --preset those without a run.",
      "--json prints one line: {runDir, policy, step, agent, instruction, seed, resamples, n, failed, em, ci95, f1, f1Ci95,",
      "reward, toolCalls, turns, responseTokens, finishReasons, macro, bySource, against}, where bySource repeats the fields",
      "from n on for each source, macro is {sources, em, ci95, f1, f1Ci95}, and against is null or the second agent with",
      "the same fields and comparison: {n, em, f1}, each {mean, ci95, macro, macroCi95, better, worse, p}, first minus second."
    ].join("\n")
  ),
  Command.withShortDescription("Answer questions with the policy of a run, and compare"),
  Command.withExamples([
    { command: "inspo eval runs/quick-seed1 --questions 100", description: "The trained policy, best instruction" },
    {
      command: 'inspo eval runs/quick-seed1 --policy before --instruction "Answer the question."',
      description: "The policy it started from, under your own words"
    },
    {
      command: 'inspo eval runs/quick-seed1 --against-instruction "Answer the question."',
      description: "Two instructions under one policy, paired by question"
    },
    { command: "inspo eval runs/mine --against runs/quick-seed1", description: "Two runs on the same questions" },
    {
      command: "inspo eval --split all --set data.questions=hotpotqa.jsonl --set data.corpus=corpus.jsonl",
      description: "The policy that ships on your questions"
    }
  ])
)
