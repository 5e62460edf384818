/** How a run weighs its instructions. */
import type { InstructionWeight } from "@inspo/population"
import type { Algorithm } from "./Algorithm.ts"

/** What the settings say of the points that Eq. 6 leaves open. */
export const choices = ({ population }: Pick<Algorithm, "population">): InstructionWeight.Choices => {
  const { average, ties, window } = population
  return {
    window,
    span: average,
    average: average === "draws" ? "window" : "observed",
    unseen: average === "draws" ? "zero" : "mean",
    ties,
    best: ties === "evidence" ? "evidence" : "weight"
  }
}
