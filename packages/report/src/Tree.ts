/** Instructions by their parents. */

/** What a tree is built from; `id` is null for a rejected candidate, which has no children. */
export interface TreeNode {
  readonly key: string
  readonly id: string | null
  readonly parent: string | null
}

/** The nodes in reading order, each before its children, with their depth. Nodes without a known parent are roots. */
export const inTreeOrder = <Node extends TreeNode>(
  nodes: ReadonlyArray<Node>
): ReadonlyArray<Node & { readonly depth: number }> => {
  const known = new Set<string | null>(nodes.flatMap(({ id }) => id ?? []))
  const children = Map.groupBy<string | null, Node>(nodes, ({ id, parent }) =>
    known.has(parent) && parent !== id ? parent : null
  )
  const list: Array<Node & { readonly depth: number }> = []
  const visit = (parent: string | null, depth: number) => {
    for (const node of children.get(parent) ?? []) {
      list.push({ ...node, depth })
      if (node.id !== null && depth < nodes.length) visit(node.id, depth + 1)
    }
  }
  visit(null, 0)
  return list
}

/** A node with its ancestors, the oldest first. */
export const ancestors = <Node extends TreeNode>(
  nodes: ReadonlyArray<Node>,
  key: string | null
): ReadonlyArray<Node> => {
  const line: Array<Node> = []
  let node = nodes.find((one) => one.key === key)
  while (node !== undefined && !line.includes(node)) {
    line.unshift(node)
    const { parent } = node
    node = parent === null ? undefined : nodes.find(({ id }) => id === parent)
  }
  return line
}
