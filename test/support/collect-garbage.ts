import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects all garbage. */
export const collectGarbage: () => void = runInNewContext("gc");
