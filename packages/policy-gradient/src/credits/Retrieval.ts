import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"

/**
 * GGPO of VimRAG, for texts: a search that found the answer is not punished in a rollout that failed, and one that found
 * nothing is not praised in a rollout that succeeded. The last turn of a success is always praised. No sign changes.
 */
export const retrieval = credit({
  name: "retrieval",
  description: "does not punish searches that found the answer, and praises no useless ones",
  formula: "A_t = A; 0 for useless searches of a success and valuable ones of a failure",
  source: "VimRAG, arXiv 2602.12735",
  certainty: "text",
  needs: "which turns retrieved the answer",
  isSupplied: true,
  allowsLevels: true,
  defaults: {},
  compute: (group) =>
    group.map(({ advantage, reward, turns }) =>
      turns.map(({ valuable }, index) => {
        const found = valuable === null ? false : Method.required("retrieval", "valuable", valuable)
        if (reward > 0) return found || index === turns.length - 1 ? advantage : 0
        return found ? 0 : advantage
      })
    )
})
