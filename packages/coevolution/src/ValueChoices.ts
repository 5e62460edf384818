/** How a run computes the values of its instructions. */
import type { InstructionValue } from "@inspo/population"
import type { Algorithm } from "./Algorithm.ts"

/** The settings of the points that Eq. 6 does not define. */
export const choices = ({ population }: Pick<Algorithm, "population">): InstructionValue.Choices => {
  const { average, ties, window } = population
  return {
    window,
    span: average === "draws" ? "draws" : "steps",
    average: average === "draws" ? "window" : "observed",
    unseen: average === "draws" ? "zero" : "mean",
    ties,
    best: ties === "evidence" ? "evidence" : "value"
  }
}
