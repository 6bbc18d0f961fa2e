export { readPredecessors } from "./predecessors.js";
