import { randomInt } from "node:crypto";
import fc from "fast-check";
import { IS_LONG } from "./long.js";

/** Each run tries other examples. `npm test` draws one seed for all its processes and prints it; TEST_SEED repeats a run. */
const seed = Number(process.env.TEST_SEED ?? newSeed());
fc.configureGlobal({ seed });
process.on("exit", (code) => {
  if (code !== 0) process.stderr.write(`${seedText(seed)}\n`);
});

export function newSeed(): number {
  return randomInt(2 ** 31);
}

export const seedText = (used: number | string): string =>
  `TEST_SEED=${used} repeats the examples of this run`;

const SHARE = 5;

/** The number of examples to try: all in a long run, else a fifth. */
export function examples(all: number): number {
  return IS_LONG ? all : Math.ceil(all / SHARE);
}

export { fc, IS_LONG };
