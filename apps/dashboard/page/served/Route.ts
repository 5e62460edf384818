import * as Routing from "../Routing.ts"

/** The views of a population. */
export const routes = Routing.makeRoutes(["members", "lineage", "history"])
export const { href } = routes
export type Route = ReturnType<typeof routes.useRoute>
