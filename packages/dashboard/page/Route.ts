/** The addresses of the views, by what they show. */
import * as Routing from "./Routing.ts"

/** The views of a run. */
export const routes = Routing.makeRoutes(["overview", "population", "lineage", "trajectories", "cost", "compare"])
export const { href } = routes
export type Route = ReturnType<typeof routes.useRoute>

/** The views of a search. */
export const searchRoutes = Routing.makeRoutes(["search", "lineage", "cases"])
export type SearchRoute = ReturnType<typeof searchRoutes.useRoute>

/** The view of a comparison of prompts. */
export const comparisonRoutes = Routing.makeRoutes(["comparison"])

/** The views of a served population. */
export const populationRoutes = Routing.makeRoutes(["members", "lineage", "history"])
export type PopulationRoute = ReturnType<typeof populationRoutes.useRoute>
