/** Every present and former instruction of a population, from the server's response and from the log. */
import type { Instruction, Member } from "@inspo/serve"
import { inTreeOrder } from "@inspo/report"
import { membersOf, type MemberHistory, type PopulationLog } from "../../src/served/PopulationLog.ts"

export interface Node {
  readonly key: string
  readonly id: string
  readonly wording: Instruction.Wording
  readonly parent: string | null
  readonly origin: Member.Member["origin"]
  readonly standing: Member.Member["standing"]
  readonly member: Member.Member | null
  readonly history: MemberHistory | null
}

/** The members that the server returns and those that only the log has, in the order of the tree. */
export const nodesOf = (
  members: ReadonlyArray<Member.Member>,
  log: PopulationLog
): ReadonlyArray<Node & { readonly depth: number }> => {
  const histories = membersOf(log)
  const present = new Set(members.map(({ id }) => id))
  return inTreeOrder([
    ...members.map((member): Node => {
      const { id, origin, parent, standing, wording } = member
      return { key: id, id, wording, parent, origin, standing, member, history: histories.get(id) ?? null }
    }),
    ...[...histories.values()].filter(({ id }) => !present.has(id)).map(fromHistory)
  ])
}

const fromHistory = (history: MemberHistory): Node => ({
  key: history.id,
  id: history.id,
  wording: history.content,
  parent: history.parent,
  origin: history.entered,
  standing: history.left === null ? "member" : history.left.how === "pruned" ? "pruned" : "retired",
  member: null,
  history
})
