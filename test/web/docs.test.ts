import assert from "node:assert/strict";
import { before, test } from "node:test";
import { renderToString } from "preact-render-to-string";
import { API_ROUTES } from "../../src/api/routes.js";
import { pathPattern } from "../../src/http/route.js";
import { ERROR_STATUS, type ErrorCode, errorAnchor } from "../../src/lib/errors.js";
import { renderMarkdown } from "../../src/web/markdown.js";
import { DOCS_PAGES } from "../../src/web/pages/docs.js";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openPage, rowsOf, textOf } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const PLAIN = { link: () => undefined, rowId: () => undefined };
const rendered = (text: string): string =>
  renderMarkdown(text, PLAIN)
    .body.map((one) => renderToString(one as never))
    .join("");

onSqlite("The guide", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
  });

  test("every document is a page, and every link within the guide leads somewhere", async () => {
    const pages = new Map<string, string>();
    for (const path of DOCS_PAGES) {
      const { status, html, headings } = await openPage(world, path);
      assert.equal(status, 200, path);
      assert.equal(headings.filter(([level]) => Number(level) === 1).length, 1, path);
      pages.set(path, html);
    }
    assert.ok(pages.size > 10);
    for (const [path, html] of pages) {
      const labels = [...html.matchAll(/ aria-label="([^"]+)"/g)].map(([, label]) => label ?? "");
      assert.equal(new Set(labels).size, labels.length, `${path}: two regions with one name`);
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? "");
      assert.deepEqual(
        ids.filter((id, i) => ids.indexOf(id) !== i),
        [],
        `${path}: ids that occur twice`,
      );
      for (const [, to = "", anchor] of html.matchAll(/href="(\/docs[^"#]*|)(?:#([^"]*))?"/g)) {
        const target = pages.get(to === "" ? path : to);
        assert.ok(target !== undefined, `${path} links to ${to}`);
        if (anchor !== undefined)
          assert.ok(target.includes(` id="${anchor}"`), `${path}: nothing is at ${to}#${anchor}`);
      }
      const prose = textOf(html.replaceAll(/<(pre|code)\b.*?<\/\1>/gs, ""));
      assert.doesNotMatch(prose.slice(0, 200_000), /```|\]\(|\*\*/, path);
    }
    assert.equal((await openPage(world, "/docs/nothing")).status, 404);
    assert.equal((await openPage(world, "/docs/__proto__")).status, 404);
  });

  test("the API has every operation and error code, and requests next to their responses", async () => {
    const { html } = await openPage(world, "/docs");
    for (const { route } of API_ROUTES)
      assert.ok(html.includes(`<code>${route.method} ${pathPattern(route)}</code></h3>`), route.path);
    for (const code of Object.keys(ERROR_STATUS) as ErrorCode[])
      assert.ok(html.includes(`<tr id="${errorAnchor(code)}">`), code);
    assert.ok((html.match(/<div class="exchange">/g) ?? []).length > 10);
    assert.ok(
      html.includes("curl &#39;https://sidereal.example/api/trending?") ||
        html.includes("curl 'https://sidereal.example/api/trending?"),
    );
    assert.doesNotMatch(html, /127\.0\.0\.1:3000/);
  });

  test("the limits are those of this service", async () => {
    const rowOf = (html: string, name: string) =>
      rowsOf(html.slice(html.indexOf('id="limits"'))).find((row) => row[0] === name);
    const limited = await createWorld(engine, limits("heavy.account=7777"));
    assert.deepEqual(rowOf((await openPage(limited, "/docs")).html, "heavy")?.slice(1, 4), [
      "1,000,000",
      "7,777",
      "7,777",
    ]);
    const free = await createWorld(engine, { SIDEREAL_LIMITS: "false" });
    assert.deepEqual(rowOf((await openPage(free, "/docs")).html, "heavy")?.slice(1, 4), [
      "none here",
      "",
      "",
    ]);
  });
});

test("documents are text: nothing in them becomes markup", () => {
  const html = rendered(
    "# T\n\nA <script>x</script> `<b>` **<i>** [<u>](x)\n\n| <a> |\n| --- |\n| <img> |\n\n- <li>\n\n```sh\n<pre>\n```\n",
  );
  assert.doesNotMatch(html, /<(?:script|b|i|u|a|img)>/);
  assert.match(html, /&lt;script>x&lt;\/script>/);
});

test("lists keep the lines that continue an item, and bars in code do not end a cell", () => {
  assert.equal(rendered("1. one\n   more\n2. two"), '<ol class="read"><li>one more</li><li>two</li></ol>');
  assert.match(
    rendered("1. run\n\n   ```sh\n   x\n   ```\n2. two"),
    /<li><p class="read">run<\/p><pre[^>]*><code>x<\/code><\/pre><\/li><li>two/,
  );
  assert.match(rendered("| A | B |\n| - | - |\n| `a\\|b` | c |"), /<code>a\|b<\/code><\/th><td>c<\/td>/);
});
