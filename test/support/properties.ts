import fc from "fast-check";
import { IS_LONG } from "./long.js";

/** Property tests try the same examples in every run; another seed is given by SIDEREAL_TEST_SEED. */
fc.configureGlobal({ seed: Number(process.env.SIDEREAL_TEST_SEED ?? 20_260_430) });

const SHARE = 5;

/** The number of examples to try: all in a long run, else a fifth. */
export function examples(all: number): number {
  return IS_LONG ? all : Math.ceil(all / SHARE);
}

export { fc, IS_LONG };
