/** Bare `node:http` servers, which send one recorded response: the baseline of what is measured through the network. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Recorded } from "../bare-server.js";
import { type MeasuredServer, startScript } from "./processes.js";

/** Its name in tables. */
export const BARE = "bare node:http";

/** Starts a server that sends this response to every request. */
export async function startBare(recorded: Recorded): Promise<MeasuredServer> {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-bench-bare-"));
  try {
    const file = join(folder, "recorded.json");
    writeFileSync(file, JSON.stringify(recorded));
    return await startScript(new URL("../bare-server.js", import.meta.url), [file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Node adds these by itself. */
const OWN_FIELDS = new Set(["date", "connection", "keep-alive"]);

/** The bytes of a response of a server, taken from the socket: any client library would rewrite its head. */
export async function recordResponse(
  { url }: MeasuredServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Recorded> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const fields = { Host: hostname, ...headers, Connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf("\r\n\r\n");
  const [line = "", ...received] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  return {
    status: Number(line.split(" ")[1]),
    headers: received
      .map((field) => [field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 2)] as const)
      .filter(([name]) => !OWN_FIELDS.has(name.toLowerCase()))
      .flat(),
    body: bytes.subarray(end + 4).toString("base64"),
  };
}
