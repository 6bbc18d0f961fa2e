import { systemClock } from "../clock.js";

/** The time that the sign-in library compares `expiresAt` with: it takes no clock. Apart from it, so that reading it does not load the library. */
export const libraryNow = (): Date => new Date(systemClock.now());
