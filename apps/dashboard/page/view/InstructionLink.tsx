import type { RunView } from "../../src/view/RunView.ts"
import { InstructionName } from "../part/Parts.tsx"
import { href } from "../Route.ts"

/** An instruction, with a link to its place in the lineage of a run. */
export const InstructionLink = ({ id, run }: { readonly id: string; readonly run: Pick<RunView, "id"> }) => (
  <a href={href(run.id, "lineage", { instruction: id })}>
    <InstructionName id={id} />
  </a>
)
