/** The time of sign-ins, by the clock of the sign-in library. Apart from the library, which takes long to load. */
import { systemClock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";

/** The time that the sign-in library compares `expiresAt` with: it takes no clock. */
export const libraryNow = (): Date => new Date(systemClock.now());

/** How long after signing in somebody may do what a stolen session must not. */
export const RECENT_MINUTES = 15;

/** A session, with the time of its sign-in. */
interface Session {
  sessionCreatedAt: number;
}

/** Whether somebody signed in within the last 15 minutes, so that a session left open elsewhere is not enough. */
export function isRecentSignIn({ sessionCreatedAt }: Session): boolean {
  return libraryNow().getTime() - sessionCreatedAt < RECENT_MINUTES * 60_000;
}

/** Throws REAUTHENTICATION_REQUIRED unless `isRecentSignIn`. */
export function requireRecentSignIn(session: Session): void {
  if (!isRecentSignIn(session))
    throw new AppError(
      "REAUTHENTICATION_REQUIRED",
      `This needs a sign-in within the last ${RECENT_MINUTES} minutes. Sign in again, and repeat the request with the new session.`,
    );
}
