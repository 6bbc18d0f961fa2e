/** Whether tests try everything they can: `npm run test:long`. Other runs try a part, to be fast. */
export const IS_LONG = process.env.SIDEREAL_TEST_LONG !== undefined;
