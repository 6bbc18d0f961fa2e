import { readdirSync, readFileSync } from "node:fs";

/** Open files of a process. Throws where the system has no `/proc`. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/**
 * The client ports of the IPv4 connections to a port of this machine that a process still has open on the server's side, each as
 * `address:port`. A connection that the server has destroyed is not among them, even if the client keeps its side open.
 */
export function heldConnections(port: number): Set<string> {
  const held = new Set<string>();
  const [, ...lines] = readFileSync("/proc/net/tcp", "utf8").trim().split("\n");
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")} `;
  for (const line of lines) {
    if (!line.includes(end)) continue;
    const [, local = "", remote = "", state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === "0A" || inode === "0" || portOf(local) !== port) continue;
    const bytes =
      remote
        .slice(0, 8)
        .match(/../g)
        ?.map((hex) => Number.parseInt(hex, 16)) ?? [];
    held.add(`${bytes.reverse().join(".")}:${portOf(remote)}`);
  }
  return held;
}

function portOf(address: string): number {
  return Number.parseInt(address.split(":")[1] ?? "", 16);
}
