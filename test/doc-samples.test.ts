import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { before, test } from "node:test";
import { importSample } from "../src/app/sample.js";
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

/**
 * Samples in documents: a `sh` block with a curl command, directly followed by a block with its output. The output is the real
 * response, shortened as the block that is there: `"…": "…"` in an object leaves out the other fields, a final `"…"` in a list
 * the other elements, and a text that ends with … is cut there.
 */
interface DocSample {
  command: string;
  /** What the document shows as its output. */
  output: string;
  /** Where the output begins in the document. */
  at: number;
}

/** What a command requests, and which lines of the head it shows. */
interface CurlRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** The beginning of the header lines that are shown; undefined: the body is. */
  shown: RegExp | undefined;
}

const BASE = "http://127.0.0.1:3000";

/** The samples of a document, in order. */
function samplesIn(text: string): DocSample[] {
  const blocks = /```sh\n([\s\S]*?)\n```\n\n```(?:json)?\n([\s\S]*?)\n```/g;
  return [...text.matchAll(blocks)].flatMap((match) => {
    const [whole, commands = "", output = ""] = match;
    const command = commands.replaceAll("\\\n", " ").split("\n").at(-1) ?? "";
    const at = match.index + whole.length - output.length - "\n```".length;
    return command.startsWith("curl ") ? [{ command, output, at }] : [];
  });
}

/** Reads a command: `curl [-si] [-X METHOD] [-H 'header'] [-d 'body'] 'address' [| grep -i '^header']`. */
function readCurl(command: string): CurlRequest {
  const [curl = "", filter] = command.split(" | ");
  const words = [...curl.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const request: CurlRequest = {
    method: "GET",
    path: "",
    headers: {},
    body: undefined,
    shown: undefined,
  };
  for (let i = 1; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "-X") request.method = words[++i] ?? "";
    else if (word === "-d") request.body = words[++i] ?? "";
    else if (word === "-H") {
      const [name = "", value = ""] = (words[++i] ?? "").split(": ");
      request.headers[name] = value;
    } else if (word.startsWith(BASE)) request.path = word.slice(BASE.length);
    else if (word !== "-si" && word !== "-s") throw new Error(`${command}: ${word} is not understood`);
  }
  const pattern = filter?.match(/^grep -iE? '\^(.+)'$/)?.[1];
  if (filter !== undefined && pattern === undefined)
    throw new Error(`${command}: ${filter} is not understood`);
  if (pattern !== undefined) request.shown = new RegExp(`^(?:${pattern})`, "i");
  return request;
}

const REST = "…";

/** A value shortened as a template is. Fields named in `kept` have the value of the template, as theirs are random. */
function shortened(value: unknown, template: unknown, kept: readonly string[]): unknown {
  if (Array.isArray(value)) {
    const shapes = Array.isArray(template) ? template : [];
    const isCut = shapes.at(-1) === REST && value.length > shapes.length - 1;
    const shown = isCut ? value.slice(0, shapes.length - 1) : value;
    return [...shown.map((one, i) => shortened(one, shapes[i], kept)), ...(isCut ? [REST] : [])];
  }
  if (typeof value === "object" && value !== null) {
    const shape = (typeof template === "object" && template !== null ? template : {}) as Record<
      string,
      unknown
    >;
    const names = Object.keys(value).filter((name) => !(REST in shape) || name in shape);
    const fields = names.map((name) => {
      const own = (value as Record<string, unknown>)[name];
      const isKept = kept.includes(name) && typeof shape[name] === typeof own;
      return [name, isKept ? shape[name] : shortened(own, shape[name], kept)];
    });
    const isCut = names.length < Object.keys(value).length;
    return Object.fromEntries(isCut ? [...fields, [REST, REST]] : fields);
  }
  const isCut = typeof value === "string" && typeof template === "string" && template.endsWith(REST);
  return isCut ? `${value.slice(0, template.length - 1)}${REST}` : value;
}

/** The longest line that a value is written in. */
const MAX_LINE = 118;

/** JSON as people write it: a value that fits is on one line. */
function formatted(value: unknown, indent = ""): string {
  const flat = flatText(value);
  const isSmall = indent !== "" && indent.length + flat.length <= MAX_LINE;
  if (isSmall || typeof value !== "object" || value === null) return flat;
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((one) => deeper + formatted(one, deeper))
    : Object.entries(value).map(
        ([name, one]) => `${deeper}${JSON.stringify(name)}: ${formatted(one, deeper)}`,
      );
  if (lines.length === 0) return flat;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function flatText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(flatText).join(", ")}]`;
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${flatText(one)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
