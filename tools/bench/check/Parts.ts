/** The parts that are checked, in the order in which they are. */
export const names = ["core", "engine", "rollout", "retrieval", "journal", "dashboard"] as const
export type Name = (typeof names)[number]
