import { keep, mostVaried } from "../Keep.ts"
import { Method } from "@inspo/domain"

/** D³S: of all rollouts of a step, the share whose advantages vary most. The schedule of the share is not published. */
export const varied = keep({
  name: "varied",
  description: "trains the share of the rollouts of a step whose advantages vary most",
  formula: "the N rollouts of the largest variance of A",
  source: "D³S, arXiv 2509.22115",
  certainty: "part",
  defaults: { share: Method.unknown },
  compute: (groups, { share }) => {
    const advantages = groups.flatMap((group) => group.map(({ advantage }) => advantage))
    const count = Math.ceil(Method.required("varied", "share", share) * advantages.length)
    const chosen = new Set(mostVaried(advantages, count))
    let at = 0
    return groups.map((group) => group.map(() => chosen.has(at++)))
  }
})

/** PODS: the same by the rewards of each group. */
export const variedInGroup = keep({
  name: "varied-in-group",
  description: "trains the m rollouts of each group whose rewards vary most",
  formula: "the m of n members of the largest variance of r",
  source: "PODS (DataFlex-RL)",
  certainty: "code",
  defaults: { members: Method.unknown },
  compute: (groups, { members }) =>
    groups.map((group) => {
      const chosen = new Set(
        mostVaried(
          group.map(({ reward }) => reward),
          Method.required("varied-in-group", "members", members)
        )
      )
      return group.map((_, index) => chosen.has(index))
    })
})
