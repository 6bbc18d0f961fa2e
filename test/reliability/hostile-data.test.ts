import assert from "node:assert/strict";
import { test } from "node:test";
import { STYLES } from "../../src/web/assets.js";
import { hostileData } from "./hostile-data.js";
import { INLINE_ISOLATED, PROTECTING, type ViolationKind, violationsIn } from "./support/hostile-checks.js";
import { testHarness } from "./support/test-harness.js";

testHarness("hostile records get in harmless or not at all, and break no response", hostileData);

test("the style sheet isolates the elements that the checks take for isolated", () => {
  const rule = /^([a-z, ]+) \{ unicode-bidi: isolate; \}$/m.exec(STYLES)?.[1]?.split(", ") ?? [];
  assert.ok(INLINE_ISOLATED.length > 0);
  assert.deepEqual(rule, INLINE_ISOLATED);
});

const page = (body: string) => [
  "text/html; charset=utf-8",
  `<!doctype html><html><body>${body}</body></html>`,
];
const picture = (inner: string) => [
  "image/svg+xml",
  `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9">${inner}</svg>`,
];

test("the checks find what they look for", async () => {
  const bad: [ViolationKind, string[]][] = [
    ["documents that are not well-formed", page("<p>a < b</p>")],
    ["documents that are not well-formed", page("<p>a & b</p>")],
    ["documents that are not well-formed", page("<p><b>a</p></b>")],
    ["documents that are not well-formed", page('<a title="a"b">x</a>')],
    ["documents that are not well-formed", page("<p>\u0000</p>")],
    ["documents that are not well-formed", ["application/json", '{"a":"\\ud800"}']],
    ["documents that are not well-formed", ["application/atom+xml", "<feed>&b;</feed>"]],
    ["documents that are not well-formed", ["text/csv", 'a,b\r\n"c'.concat("\r\n")]],
    ["documents that are not well-formed", picture("<script>1</script>")],
    ["documents that are not well-formed", ["text/unknown", "x"]],
    [
      "scripts, event attributes and foreign references",
      page('<meta http-equiv="refresh" content="5; url=https://evil.example/">'),
    ],
    ["scripts, event attributes and foreign references", page('<p onclick="x()">a</p>')],
    ["scripts, event attributes and foreign references", page("<script>alert(1)</script>")],
    ["scripts, event attributes and foreign references", page('<img src="https://evil.example/x" alt=""/>')],
    ["scripts, event attributes and foreign references", page('<script src="//evil.example/x"></script>')],
    ["addresses that run", page('<a href="JavaScript:alert(1)">a</a>')],
    ["addresses that run", ["application/json", '{"homepage":"data:text/html,x"}']],
    ["formulas", ["text/csv", "a,b\r\nx,=1+1\r\n"]],
    ["formulas", ["text/csv", "a\r\nx;＝1+1\r\n"]],
    ["texts that can reorder what is around them", page("<li>by <em>\u202Eabc</em> 5 stars</li>")],
    ["texts that can reorder what is around them", page("<li>by <em>שלום</em> 5 stars</li>")],
  ];
  const kinds = async ([type = "", body = ""]: string[], status = 200) => {
    const response = new Response(body, { status, headers: { ...PROTECTING, "content-type": type } });
    return (await violationsIn(response, "", "https://sidereal.example")).map(({ kind }) => kind);
  };
  for (const [kind, document] of bad) assert.ok((await kinds(document)).includes(kind), document[1]);
  assert.deepEqual(await kinds(page(""), 500), ["responses with a fault of ours (5xx)"]);
  const good = [
    page('<p>a &lt; b &amp; <a href="https://a.example/">x</a><br/><input type="text" value="&quot;"/></p>'),
    page("<li>by <bdi>שלום</bdi> <a>שלום</a> 5 stars</li><p>שלום</p>"),
    ["text/csv", 'a,b\r\n"x;\'=1+1",-5\r\n'],
  ];
  for (const document of good) assert.deepEqual(await kinds(document), [], document[1]);
});
