/** Every instruction that is or was in a population: what the server knows of it now, and what the log tells. */
import type { Wording } from "@inspo/serve/wire/Instruction"
import type { Member } from "@inspo/serve/wire/Member"
import { type Stories, storiesOf, type Story } from "../../src/served/Stories.ts"

export interface Node {
  readonly id: string
  readonly wording: Wording
  readonly parent: string | null
  readonly origin: Member["origin"]
  readonly standing: Member["standing"]
  readonly member: Member | null
  readonly story: Story | null
}

/** Those that the server names, then those that the log alone knows, with how deep they hang below their first ancestor. */
export const nodesOf = (
  members: ReadonlyArray<Member>,
  told: Stories
): ReadonlyArray<Node & { readonly depth: number }> => {
  const stories = storiesOf(told)
  const present = new Set(members.map(({ id }) => id))
  const nodes: ReadonlyArray<Node> = [
    ...members.map((member) => ({
      id: member.id,
      wording: member.wording,
      parent: member.parent,
      origin: member.origin,
      standing: member.standing,
      member,
      story: stories.get(member.id) ?? null
    })),
    ...[...stories.values()].filter(({ id }) => !present.has(id)).map(ofStory)
  ]
  const known = new Set(nodes.map(({ id }) => id))
  const children = Map.groupBy(nodes, ({ id, parent }) =>
    parent !== null && parent !== id && known.has(parent) ? parent : ""
  )
  const list: Array<Node & { readonly depth: number }> = []
  const visit = (parent: string, depth: number) => {
    for (const node of children.get(parent) ?? []) {
      list.push({ ...node, depth })
      if (depth < nodes.length) visit(node.id, depth + 1)
    }
  }
  visit("", 0)
  return list
}

const ofStory = (story: Story): Node => ({
  id: story.id,
  wording: story.content,
  parent: story.parent,
  origin: story.entered,
  standing: story.left === null ? "member" : story.left.how === "pruned" ? "pruned" : "retired",
  member: null,
  story
})
