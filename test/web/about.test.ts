import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { openIssuesRule } from "../../src/config/config.js";
import { onSqlite } from "../support/engines.js";
import { document } from "../support/openapi.js";
import { linkTo, numbersIn, openPage, textOf } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("The methodology", (engine) => {
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
});
