import * as Routing from "./Routing.ts"

/** The views of a run. */
export const routes = Routing.makeRoutes(["overview", "population", "lineage", "trajectories", "cost", "compare"])
export const { href } = routes
export type Route = ReturnType<typeof routes.useRoute>
