/** Oldest Node.js without known faults that a request could use against us. */
const OLDEST_NODE = [24, 18, 1] as const;

/** Why this Node.js must not run the service, or undefined when it may. */
export function unsafeNode(version: string): string | undefined {
  const parts = version.replace(/^v/, "").split(".").map(Number);
  for (const [i, least] of OLDEST_NODE.entries()) {
    const part = parts[i] ?? 0;
    if (part > least) return undefined;
    if (part < least) return `Node.js ${version} is too old; ${OLDEST_NODE.join(".")} or newer is needed.`;
  }
  return undefined;
}
