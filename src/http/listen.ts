import type { Server } from "node:http";

/**
 * Opens the port. With `isShared` other threads may open the same one, and the system gives each connection to one of them;
 * throws with a message for the operator where it cannot.
 */
export async function listen(
  server: Server,
  { port, host }: { port: number; host: string },
  isShared: boolean,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, reusePort: isShared }, resolve);
  }).catch((error: unknown) => {
    if (!isShared || !(error instanceof Error && "code" in error && error.code === "ENOTSUP")) throw error;
    throw new Error("Threads cannot share a port on this system: SIDEREAL_HTTP_THREADS must be 1.");
  });
}
