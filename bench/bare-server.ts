/**
 * A bare `node:http` server that sends one recorded response to every request: what Node itself costs.
 * `node dist/bench/bare-server.js FILE`, where the file is the JSON of a `Recorded`. Prints its address.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/** A response as it was received, without the fields that Node adds by itself. */
export interface Recorded {
  status: number;
  /** Names and values alternate. */
  headers: string[];
  /** base64; empty where the response has no body. */
  body: string;
}

const [file = ""] = process.argv.slice(2);
const { status, headers, body }: Recorded = JSON.parse(readFileSync(file, "utf8"));
const bytes = Buffer.from(body, "base64");

const server = createServer((_, response) => {
  response.writeHead(status, headers);
  if (bytes.byteLength === 0) response.end();
  else response.end(bytes);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null)
    process.stdout.write(`listens at http://127.0.0.1:${address.port}\n`);
});
