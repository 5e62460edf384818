export { type Interval, wilson } from "@inspo/dashboard/Interval"
