/**
 * Charts and pages without a server: one command opens a store of its own, reads the forges once, and writes the responses of the
 * service's routes. It has no renderer of its own. Names and texts of repositories are data: they reach files only through the routes.
 */
export { type ChartFormat, checkChartOptions, drawChart } from "./chart.js";
export { InputFault } from "./files.js";
export type { GivenList } from "./list.js";
export { PASS_URL, type Pass, Responder } from "./pass.js";
export { type PublishReport, publish, StateFault } from "./run.js";
