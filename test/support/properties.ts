import fc from "fast-check";

/** Property tests try the same examples in every run; another seed is given by SIDEREAL_TEST_SEED. */
fc.configureGlobal({ seed: Number(process.env.SIDEREAL_TEST_SEED ?? 20_260_430) });

export { fc };
