/** The checked parts, in order. */
export const names = ["core", "engine", "rollout", "retrieval", "journal", "serve", "evolve", "dashboard"] as const
export type Name = (typeof names)[number]
