import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import { startAcmeWorks } from "../support/acme-works.js";
import { CommandWorld } from "../support/command.js";
import { elementsOf, type HtmlElement, readHtml } from "../support/html.js";
import { assertStatic, contentOf, startPublishing } from "../support/publishing.js";
import { NOW } from "../support/world.js";

const world = new CommandWorld();

const textOf = (element: HtmlElement | string): string =>
  typeof element === "string" ? element : element.children.map(textOf).join("");

const all = (html: string, what: string): HtmlElement[] =>
  [...elementsOf(readHtml(html))]
    .map(({ element }) => element)
    .filter(({ name, attributes }) => name === what || attributes.get("class")?.split(" ").includes(what));

const texts = (html: string, what: string): string[] =>
  all(html, what).map((element) => textOf(element).replaceAll(/\s+/g, " ").trim());

/** Every link of every page leads to a file, and every page needs neither a server nor a script. */
function assertWhole(site: Record<string, string>): void {
  for (const [file, html] of Object.entries(site).filter(([name]) => name.endsWith(".html"))) {
    assertStatic(html, file);
    for (const { attributes } of [...elementsOf(readHtml(html))].map(({ element }) => element))
      for (const link of [attributes.get("href"), attributes.get("src")]) {
        const [path = ""] = link?.split("#") ?? [];
        if (path === "" || /^https?:/.test(path)) continue;
        const target = posix.join(posix.dirname(file), decodeURIComponent(path));
        assert.ok(site[target] !== undefined, `${file}: ${link}`);
      }
  }
}

test("the first page of a site has a title, sums, news, the lives of repositories and comparisons, in 45 kB and 3 kB", async (t) => {
  const { at, list, run, keys } = await startAcmeWorks(t, world);
  list("# title: Acme Works", "acme/loom acme/moss", ...keys);
  const { code, stderr } = await run("--site", at("site"), "--url", "https://acme.example/stars");
  assert.equal(code, 0, stderr);
  const site = contentOf(at("site"));
  assertWhole(site);
  const html = site["index.html"] ?? "";
  assert.ok(Buffer.byteLength(html) <= 45_000, `${Buffer.byteLength(html)} bytes`);
  const [script = ""] = Object.keys(site).filter((file) => file.endsWith(".js"));
  assert.ok(Buffer.byteLength(site[script] ?? "") <= 3_000, script);
  assert.equal(texts(html, "title")[0], "Acme Works: 70,053 stars");
  assert.deepEqual(texts(html, "h1"), ["Acme Works"]);
  assert.deepEqual(texts(html, "cover-sub"), ["Six repositories on GitHub and Codeberg"]);
  assert.deepEqual(texts(html, "dd"), ["70,053", "+501", "2,278"]);
  assert.deepEqual(
    all(html, "cover-news").flatMap((list) => list.children.map(textOf)),
    [
      "tern passed 4,000 stars on 3 Apr 2026.",
      "moss had its best month on record.",
      "quill is new: three stars on its first day.",
    ],
  );
  assert.deepEqual(texts(html, "cover-cards")[0]?.match(/(?:loom|moss|kite|tern|kobune|quill)[\d,]+/g), [
    "loom32,367",
    "moss22,318",
    "kite9,476",
    "tern4,110",
    "kobune1,779",
    "quill3",
  ]);
  // The stars of a young one are drawn one by one.
  const stars = all(html, "path").filter(({ attributes }) =>
    /^chart-mark chart-/.test(attributes.get("class") ?? ""),
  );
  assert.equal(stars.length, 2 + 5 + 3 + 2 * 2);
  assert.match(
    texts(html, "versus")[0] ?? "",
    /^loom and moss ?loom passed moss in September 2024 and leads by 10,049\./,
  );
  assert.match(
    texts(html, "cover-foot")[0] ?? "",
    /^Sidereal ?Feed ?Data as CSV ?Pictures for a README.*Counted on 30 Apr 2026$/,
  );
  assert.match(site["repositories.csv"] ?? "", /acme\/loom/);
  assert.match(site["pictures/github/acme/loom.svg"] ?? "", /^<svg/);
  assert.match(site["pictures/codeberg/acme/kobune.svg"] ?? "", /^<svg/);
  // Six are not ranked.
  assert.deepEqual(
    Object.keys(site).filter((file) => /^(?:explore|languages|topics|compare\/index)/.test(file)),
    [],
  );
  assert.match(texts(site["repos/github/acme/loom/index.html"] ?? "", "brand")[0] ?? "", /^Acme Works$/);
});

test("a title is a text, and a bad one is named in one sentence and not shown", async (t) => {
  const { at, list, run } = await startPublishing(t, world, { repositories: 1, begin: NOW });
  const name = "acme/kite";
  const titles = async (...lines: string[]) => {
    list(...lines, name);
    const { report } = await run("--site", at("site"));
    const html = contentOf(at("site"))["index.html"] ?? "";
    assertStatic(html, lines.join());
    return [report.problems.filter((one: string) => one.startsWith("title")), texts(html, "h1")];
  };
  assert.deepEqual(await titles("# title: <script>alert(1)</script> & “all”"), [
    [],
    ["<script>alert(1)</script> & “all”"],
  ]);
  assert.deepEqual(await titles("#title:\u202E  星の\u0007工房 "), [[], ["星の 工房"]]);
  assert.deepEqual(await titles("# Title: معمل النجوم"), [[], ["معمل النجوم"]]);
  const BAD = "title: must have 1 to 80 characters";
  assert.deepEqual(await titles("# title:"), [[BAD], ["Repositories"]]);
  assert.deepEqual(await titles(`# title: ${"x".repeat(81)}`), [[BAD], ["Repositories"]]);
  const twice = await titles("# title: a", "# title: b");
  assert.deepEqual(twice, [["title: may be in the list only once"], ["Repositories"]]);
  // A title that a comment only names is none.
  assert.deepEqual(await titles("# the title: a"), [[], ["Repositories"]]);
});

test("names and descriptions of any length and direction stay in their cards", async (t) => {
  const long = `${"a".repeat(39)}/${"very-long-name-".repeat(6)}end`;
  const work = { language: "C++", since: 500, stars: 1_234_567, course: (age: number) => age };
  const { at, list, run, keys } = await startAcmeWorks(t, world, [
    { ...work, name: long, description: "ก็".repeat(200) },
    { ...work, name: "acme/b", description: "سطر بالعربية ← <b>", stars: 0 },
  ]);
  list(`${keys[0]} ${keys[1]} # 比較 <i>`, ...keys);
  const { code, stderr } = await run("--site", at("site"));
  assert.equal(code, 0, stderr);
  const site = contentOf(at("site"));
  assertWhole(site);
  const html = site["index.html"] ?? "";
  assert.deepEqual(texts(html, "h1"), ["a".repeat(39)]);
  assert.deepEqual(texts(html, "about"), ["ก็".repeat(200), "سطر بالعربية ← <b>"]);
  assert.match(texts(html, "versus")[0] ?? "", /^比較 <i>/);
  for (const about of all(html, "about"))
    assert.equal(typeof about.children[0] === "object" && about.children[0].name, "bdi");
});

test("a site of one repository has no comparison, and one of none says so", async (t) => {
  const { at, list, run, forge, names, clock } = await startPublishing(t, world, {
    repositories: 1,
    begin: NOW,
  });
  list(names[0] ?? "");
  forge.switches.fault = () => "status-502";
  assert.equal((await run("--site", at("site"))).code, 4);
  const none = contentOf(at("site"));
  assertWhole(none);
  assert.deepEqual(texts(none["index.html"] ?? "", "cover-sub"), ["No repository could be read yet."]);
  forge.switches.fault = null;
  clock.pass(1);
  assert.equal((await run("--site", at("site"))).code, 0);
  const one = contentOf(at("site"));
  assertWhole(one);
  const html = one["index.html"] ?? "";
  assert.deepEqual(texts(html, "cover-sub"), ["One repository on GitHub"]);
  assert.deepEqual(texts(html, "h2"), ["Repository"]);
  assert.deepEqual(texts(html, "h1"), [names[0]?.split("/")[0]]);
});
