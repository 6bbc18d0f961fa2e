import fc from "fast-check";

/** Property tests try the same examples in every run; another seed is given by SIDEREAL_TEST_SEED. */
fc.configureGlobal({ seed: Number(process.env.SIDEREAL_TEST_SEED ?? 20_260_430) });

/** Whether tests try everything they can: `npm run test:long`. Other runs try a part, to be fast. */
export const IS_LONG = process.env.SIDEREAL_TEST_LONG !== undefined;

const SHARE = 5;

/** The number of examples to try: all in a long run, else a fifth. */
export function examples(all: number): number {
  return IS_LONG ? all : Math.ceil(all / SHARE);
}

export { fc };
