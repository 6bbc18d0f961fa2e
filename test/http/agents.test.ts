import assert from "node:assert/strict";
import { test } from "node:test";
import { agentFamily } from "../../src/http/caller.js";
import { createToken } from "../../src/lib/tokens.js";
import { examples, fc } from "../support/properties.js";

const FAMILIES: readonly (readonly [string | undefined, string])[] = [
  [undefined, "None"],
  ["", "None"],
  ["   ", "None"],
  ["curl/8.5.0", "curl"],
  ["python-requests/2.32.3", "python-requests"],
  ["Go-http-client/1.1", "Go-http-client"],
  ["okhttp/4.12.0", "okhttp"],
  ["node", "node"],
  ["undici", "undici"],
  ["Apache-HttpClient/5.3 (Java/21)", "Apache-HttpClient"],
  ["my.tool (+https://example.org)", "my.tool"],
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Chrome",
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0", "Firefox"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Safari",
  ],
  ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"],
  // What the library would take over as it is.
  ["Mozilla/5.0 secret/1 x", "Other"],
  ["Mozilla/5.0", "Other"],
  ["(curl)", "Other"],
  ["ann@example.org", "Other"],
  ["a-name-that-is-longer-than-any-program", "Other"],
  ["tool_with_underscores/1", "Other"],
  ["<script>alert(1)</script>", "Other"],
  ["ブラウザ/1", "Other"],
];

test("programs are told by their name, browsers by theirs, and nothing else of what was sent", () => {
  for (const [sent, family] of FAMILIES) assert.equal(agentFamily(sent), family, sent);
});

test("no text, and no secret in one, comes through as more than a short name", () => {
  const parts = fc.array(
    fc.constantFrom("Mozilla/5.0 ", "curl/", "(", ")", "; ", "Chrome/1", " Version/2", "sid_", "/", " "),
  );
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.tuple(parts, fc.string()).map((t) => t.flat().join("")),
  );
  fc.assert(
    fc.property(text, (sent) => assert.match(agentFamily(sent), /^[A-Za-z][A-Za-z0-9. -]{0,27}$/)),
    { numRuns: examples(2_000) },
  );
  for (const secret of [createToken("sid"), `Bearer/${createToken("sid")}`, `curl/${createToken("sid")}`])
    assert.ok(!agentFamily(secret).includes("sid"), secret);
});
