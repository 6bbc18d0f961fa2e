import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { before, test } from "node:test";
import { importSample } from "../src/app/sample.js";
import { type DocSample, formatted, readCurl, samplesIn, shortened } from "./support/doc-samples.js";
import { onSqlite } from "./support/engines.js";
import { DEFAULT_LIMITS } from "./support/limits.js";
import { openMailbox } from "./support/mail.js";
import { createKey, signIn } from "./support/members.js";
import { createWorld, type World } from "./support/world.js";

const DOCUMENTS = ["README.md", "docs/API.md"];
/** Fields that differ each time. */
const RANDOM = ["token", "shareToken", "requestId"];

// `npm run samples` writes the responses into the documents.
const isWriting = process.env.SIDEREAL_WRITE_SAMPLES === "1";

onSqlite("Samples in the documents", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let key: string;

  before(async () => {
    world = await createWorld(engine, {
      ...mailbox.settings,
      ...DEFAULT_LIMITS,
      SIDEREAL_PROVIDERS: "github",
      SIDEREAL_TRACK: "accounts",
    });
    await importSample(world.modules);
    ({ key } = await createKey(world, await signIn(world, mailbox, "ann@example.org")));
  });

  const outputOf = async ({ command, output }: DocSample): Promise<string> => {
    const { method, path, headers, body, shown } = readCurl(command);
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("sid_…", key)]),
    );
    const response = await world.request(path, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body }),
      peer: `192.0.2.${asked++}`,
    });
    const text = await response.text();
    const local = (one: string) => one.replaceAll("https://sidereal.example", "http://127.0.0.1:3000");
    if (shown !== undefined)
      return [...response.headers]
        .map(([name, value]) => `${spelled(name)}: ${local(value)}`)
        .filter((line) => shown.test(line))
        .join("\n");
    const random = path === "/api/track" ? [...RANDOM, "id"] : RANDOM;
    return formatted(shortened(JSON.parse(local(text)), JSON.parse(output), random));
  };
  let asked = 1;

  for (const file of DOCUMENTS) {
    test(`${file} shows what its commands return`, async () => {
      let text = readFileSync(file, "utf8");
      const samples = samplesIn(text);
      assert.ok(samples.length >= 3, "the samples were not read");
      const json = text.match(/^```json$/gm)?.length ?? 0;
      assert.ok(
        samples.length >= json,
        "every JSON block follows the command that returns it, so that it can be run",
      );
      // From the end, so that the places of the others stay.
      const outputs: string[] = [];
      for (const sample of samples) outputs.push(await outputOf(sample));
      for (const [i, sample] of [...samples.entries()].reverse()) {
        const actual = outputs[i] ?? "";
        if (isWriting)
          text = text.slice(0, sample.at) + actual + text.slice(sample.at + sample.output.length);
        else assert.equal(sample.output, actual, `${sample.command}\nnpm run samples writes what it returns`);
      }
      if (isWriting) writeFileSync(file, text);
    });
  }
});

/** A header as the documents spell it. */
function spelled(name: string): string {
  const words: Readonly<Record<string, string>> = { ratelimit: "RateLimit" };
  return name
    .split("-")
    .map((word) => words[word] ?? word.charAt(0).toUpperCase() + word.slice(1))
    .join("-");
}

test("a response is shortened as its template is, and only there", () => {
  const value = {
    a: 1,
    list: [
      { x: 1, y: 2 },
      { x: 3, y: 4 },
    ],
    text: "long text",
    token: "new",
  };
  assert.deepEqual(
    shortened(value, { list: [{ x: 0, "…": "…" }, "…"], text: "long…", token: "kept", "…": "…" }, ["token"]),
    { list: [{ x: 1, "…": "…" }, "…"], text: "long…", token: "kept", "…": "…" },
  );
  assert.deepEqual(shortened(value, {}, []), value);
  assert.deepEqual(shortened({ a: 1 }, { a: 0, b: 0, "…": "…" }, []), { a: 1 });
});
