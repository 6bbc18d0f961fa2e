import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

const collect: (options?: { type: "minor" }) => void = runInNewContext("gc");

/** Collects all garbage. */
export function collectGarbage(): void {
  collect();
}

/** Collects garbage among young objects, as V8 mostly does. */
export function collectYoung(): void {
  collect({ type: "minor" });
}
