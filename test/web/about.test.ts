import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { API_ROUTES } from "../../src/api/routes.js";
import { openIssuesRule } from "../../src/config/config.js";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { document } from "../support/openapi.js";
import { linkTo, numbersIn, openPage, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("The methodology and the API reference", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("acme/kite", daily(1000, 1100), { facts: { language: "Rust" } }),
      observation("acme/stone", daily(5000, 5001)),
    );
  });

  test("the example has the values of its current score", async () => {
    const { status, html } = await openPage(world, "/about");
    assert.equal(status, 200);
    assert.ok(linkTo(html, "acme/kite"));
    const section = html.slice(html.indexOf('id="example"'), html.indexOf('id="confidence"'));
    for (const number of ["24", "1,000", "2026-04-29", "100", "24.0"])
      assert.ok(numbersIn(textOf(section)).includes(number), number);
    const json = linkTo(section, "as JSON");
    const { body } = await world.get(`${json?.pathname}${json?.search}`);
    const { score, formula } = body.data.explanation.windows["24h"].trending;
    assert.ok(textOf(section).includes(`${score.toFixed(2)} = ${formula}`));
    assert.match(html, /id="begin"/);
  });

  test("page, API and document say which forges count pull requests as open issues", async () => {
    const rule = openIssuesRule();
    assert.equal(
      rule,
      "Open issues include open pull requests on GitHub, and not on GitLab, Forgejo, Gitea and Gogs.",
    );
    assert.ok(textOf((await openPage(world, "/about")).html).includes(rule));
    assert.ok(readFileSync("docs/API.md", "utf8").includes(rule));
    const { Repository, Snapshot } = document.components.schemas;
    for (const schema of [Repository, Snapshot]) assert.ok(JSON.stringify(schema).includes(rule));
  });

  test("without a trending repository there is no example", async () => {
    const empty = await createWorld(engine);
    const { html } = await openPage(empty, "/about");
    const section = html.slice(html.indexOf('id="example"'), html.indexOf('id="confidence"'));
    assert.doesNotMatch(section, /<table/);
  });

  test("the reference has every operation, schema and response of the contract", async () => {
    const { html } = await openPage(world, "/docs");
    const operations = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation as unknown as { operationId: string }),
    );
    assert.equal(operations.length, API_ROUTES.length);
    for (const { operationId } of operations) {
      assert.ok(html.includes(`<details class="operation" id="${operationId}">`), operationId);
      assert.ok(html.includes(`href="#${operationId}"`), operationId);
    }
    for (const name of Object.keys(document.components.schemas))
      assert.ok(html.includes(`id="record-${name}"`), name);
    for (const [, target = ""] of html.matchAll(/href="#([^"]+)"/g))
      assert.ok(html.includes(`id="${target}"`), `nothing is at #${target}`);
    assert.match(html, /href="\/api\/openapi\.json"/);
    assert.match(html, /curl 'https:\/\/sidereal\.example\/api\/trending\?window=7d&amp;limit=5'/);
  });

  test("the reference shows the configured rate limits", async () => {
    const limited = await createWorld(engine, limits("heavy.account=7777"));
    const { html } = await openPage(limited, "/docs");
    assert.deepEqual(
      rowsOf(html, "tight").find((row) => row[0] === "heavy"),
      ["heavy", "1,000,000", "7,777", "7,777"],
    );
    const free = await createWorld(engine, { SIDEREAL_LIMITS: "false" });
    const page = await openPage(free, "/docs");
    assert.ok(page.headings.some(([, name]) => name === "Rate limits"));
    assert.deepEqual(rowsOf(page.html, "tight"), []);
  });
});
