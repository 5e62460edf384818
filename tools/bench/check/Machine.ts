import { Context } from "effect"
import { processorSeconds } from "../Measure.ts"
import { calibration } from "./Calibration.ts"

/** How work is timed. */
export interface Machine {
  /** Processor seconds of all threads so far. */
  readonly seconds: () => number
  /** Does the work whose time is the unit of other work. */
  readonly calibrate: () => unknown
}

/** This machine by default. */
export const Machine = Context.Reference<Machine>("bench/Machine", {
  defaultValue: () => ({
    seconds: processorSeconds,
    calibrate: calibration
  })
})
