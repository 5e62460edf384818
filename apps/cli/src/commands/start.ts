import * as Method from "@inspo/coevolution/Method"
import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, reader, trusting } from "./handler.ts"

export const doctor = Command.make(
  "doctor",
  { json: flags.json },
  reader(async () => (await import("../doctor/Doctor.ts")).diagnose)
).pipe(
  flags.help({
    description: "Check that everything a run needs works on this machine",
    examples: { "inspo doctor --json": "One JSON document, for a bug report" }
  })
)

export const init = Command.make(
  "init",
  {
    directory: flags
      .argument("dir", "Directory to write to; the current one by default")
      .pipe(Argument.withDefault(".")),
    preset: flags.preset,
    short: flags.toggle(
      "short",
      "Write only the settings that are usually changed first; the others come from --preset"
    ),
    list: flags.toggle("list", "Write nothing; list the presets, and the parts that --ablate leaves out"),
    force: flags.force,
    json: flags.json
  },
  handler(async () => (await import("../run/Init.ts")).init)
).pipe(
  flags.help({
    short: "Write a config file with every setting explained",
    description:
      "Write a config file with every setting explained, and its JSON Schema for editors. The file works unchanged",
    examples: {
      "inspo init": "config.yaml and config.schema.json, here",
      "inspo init --short": "The 20 settings that are changed first",
      "inspo init --list": "The presets, and the parts to leave out",
      "inspo init mine --preset paper": "The settings of the paper, in mine/",
      "inspo run mine/config.yaml": "Then start it"
    }
  })
)

const loadPlan = async () => (await import("../run/Plan.ts")).plan

export const plan = Command.make(
  "plan",
  {
    file: flags.config,
    preset: flags.preset,
    set: flags.set,
    agent: flags.player("agent", "Agent that plays the episodes instead of rollout.agent"),
    ablate: flags.ablate,
    seed: flags.seed,
    probe: flags.optionalInteger(
      "probe",
      "Also make up to N rollouts of the untrained policy under the first instructions, and report whether to evolve first, to evolve " +
        "along or to train plainly"
    ),
    json: flags.json
  },
  // Only a probe has something to end, such as a model on a server.
  (input) => (Option.isSome(input.probe) ? handler(loadPlan)(input) : reader(loadPlan)(input))
).pipe(
  flags.help({
    short: "Show what a run would do and spend, without starting it",
    description: "Show what a run would do and spend: schedule, rollouts, proposer calls, resolution, warnings",
    examples: {
      "inspo plan --preset paper": "The paper's run",
      "inspo plan my.yaml --set schedule.pruneEvery=10 --json": "Your settings, one JSON line",
      "inspo plan my.yaml --probe 800": "Ask the untrained policy whether instructions pay"
    }
  })
)

export const run = Command.make(
  "run",
  {
    file: flags.config,
    preset: flags.preset,
    method: flags
      .choice(
        "method",
        Method.Method.literals,
        "Co-evolution, GRPO under one instruction with tools (grpo-static) or without (grpo), rejection sampling, supervised " +
          "learning without tools (sft) or with them (sft-tool), or co-evolution by the update of others (dapo, …: inspo methods)"
      )
      .pipe(Flag.withDefault("inspo")),
    agent: flags.player("agent", "Agent that plays the episodes instead of rollout.agent"),
    set: flags.set,
    ablate: flags.ablate,
    seed: flags.seed,
    out: flags.out,
    baseline: flags.baseline,
    dashboard: flags.dashboard("run"),
    track: flags.track,
    json: flags.json,
    quiet: flags.quiet
  },
  handler(async () => (await import("../run/Start.ts")).start)
).pipe(
  flags.help({
    description: "Co-evolve the policy and its instruction",
    examples: {
      "inspo run": "A whole run on the embedded defaults",
      "inspo run --preset quick --seed 7 --set schedule.steps=20": "A shorter one",
      "inspo run my.yaml --out runs/mine --json": "Your settings, one JSON line as the result"
    }
  })
)

export const resume = Command.make(
  "resume",
  {
    directory: flags.argument("dir", "Directory of the run to continue"),
    set: flags.set.pipe(
      Flag.withDescription(
        "Change a setting that does not affect results, such as budget.rollouts=20000 or engine.url; may be repeated"
      )
    ),
    baseline: flags.baseline,
    acceptLost: flags.toggle(
      "accept-lost",
      "Continue although the end of the journal is lost: the lost steps run again, and their first cost stays in the ledger"
    ),
    track: flags.track,
    trust: flags.trust,
    json: flags.json,
    quiet: flags.quiet
  },
  trusting(handler(async () => (await import("../run/Resume.ts")).resume))
).pipe(
  flags.help({
    short: "Continue a run that was stopped",
    description: "Continue a run that was stopped; the result is the same as without the stop",
    examples: {
      "inspo resume runs/quick-seed1": "Continue that run",
      "inspo resume runs/mine --set budget.rollouts=20000": "Continue it with a larger budget"
    }
  })
)
