/** Rate at which clients must at least read: whole responses (`connections.ts`), and streams on average (`stream-response.ts`). */
export const LEAST_BYTES_PER_MS = 32;
