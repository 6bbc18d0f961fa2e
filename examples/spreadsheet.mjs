// Writes repositories.csv: a whole list, in one response, as a file that spreadsheets open. Needs a key.
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Sidereal } from "sidereal-client";

if (process.env.API_KEY === undefined) {
  console.error("Set API_KEY to a key of the service, which its page “API keys” creates.");
  process.exit(2);
}
const sidereal = new Sidereal({
  baseUrl: process.env.SERVICE ?? "http://127.0.0.1:3000",
  apiKey: process.env.API_KEY,
});

const { body } = await sidereal.request("get", "/api/repos.csv", { query: { sort: "stars", window: "7d" } });
await pipeline(body, createWriteStream("repositories.csv"));
