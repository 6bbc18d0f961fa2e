/**
 * Suspected renames: names of archives without ids that seem to continue as others. Owns the table `renames`. Both repositories
 * stay what they are until an operator accepts a rename; until then the earlier name is not listed, and the later one has its
 * growth. `detect.ts` finds them, `decide.ts` does what the operator says.
 */
export { decideRename, RENAME_DECISIONS, type RenameDecision } from "./decide.js";
export { detectRenames } from "./detect.js";
export {
  describeEvidence,
  RENAME_STATUSES,
  type RenameEvidence,
  type RenameStatus,
} from "./evidence.js";
export {
  type Rename,
  type RenamedRepository,
  RenameReader,
  readRenames,
  renamesColumn,
} from "./list.js";
export { readPredecessors } from "./predecessors.js";
export type { RenameReport } from "./store.js";
