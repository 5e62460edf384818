import { InstructionWeight } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Sampler } from "@inspo/sampler"
import { SuccessiveHalving } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import type { RunConfig } from "./Config.ts"

/** The readings in force, one per part of the loop: pure functions chosen once by the config. */
export interface Policies {
  readonly weighting: InstructionWeight.Policy
  readonly assignment: Sampler.Policy
  readonly halving: SuccessiveHalving.Policy
  readonly buffer: ReplayBuffer.Policy
  readonly verification: Verification.Policy
}

export const fromConfig = (config: RunConfig): Policies => ({
  weighting: InstructionWeight[config.population.weighting](config.population),
  assignment: Sampler[config.sampler.assignment],
  halving: SuccessiveHalving[config.halving.rule]({
    parents: config.population.parents,
    minimumGroups: config.halving.minimumGroups
  }),
  buffer: ReplayBuffer[config.buffer.policy](config.buffer),
  verification: Verification[config.verification.policy]({
    rounds: config.verification.rounds,
    fill: config.verification.fill
  })
})
