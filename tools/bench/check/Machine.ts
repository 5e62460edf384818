import { Context } from "effect"
import { processorSeconds } from "../Measure.ts"
import { calibration } from "./Calibration.ts"

/** What work is timed by. */
export interface Machine {
  /** Processor seconds of all threads so far: a busy machine does not stretch them as it does the clock. */
  readonly seconds: () => number
  /** Does the piece of work whose time is the unit of all other. */
  readonly calibrate: () => unknown
}

/** This machine, unless another is provided. */
export const Machine = Context.Reference<Machine>("bench/Machine", {
  defaultValue: () => ({
    seconds: processorSeconds,
    calibrate: calibration
  })
})
