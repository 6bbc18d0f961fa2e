/** Oldest Node.js without known faults that a request could use against us. */
const OLDEST_NODE = "24.18.1";

/** Why this Node.js must not run the service, or undefined when it may. */
export function unsafeNode(version: string): string | undefined {
  return isOlder(version.replace(/^v/, ""), OLDEST_NODE)
    ? `Node.js ${version} is too old; ${OLDEST_NODE} or newer is needed.`
    : undefined;
}

/** Whether a version, such as 24.18.1, comes before another one. */
export function isOlder(version: string, other: string): boolean {
  const others = other.split(".");
  for (const [i, part] of version.split(".").entries()) {
    const difference = Number.parseInt(part, 10) - Number(others[i]);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
