import assert from "node:assert/strict";
import { before, test } from "node:test";
import { updateDerived } from "../../src/modules.js";
import { importArchive, row } from "../support/archive.js";
import { onSqlite } from "../support/engines.js";
import { open, textOf } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const text = { description: "A tool that does many things" };

onSqlite("The page of a repository with a suspected rename", (engine) => {
  let world: World;
  const notices = async (path: string) => {
    const { html, status } = await open(world, path);
    const found = [...html.matchAll(/<div class="note" role="note">(.*?)<\/div>/gs)];
    return { html, status, notices: found.map(([, inside = ""]) => textOf(inside)) };
  };

  before(async () => {
    world = await createWorld(engine);
    const { catalog, database } = world.modules;
    await importArchive({ catalog, database }, [
      { day: 8, rows: [row("o/tool", 1_000, text)] },
      { day: 9, rows: [row("n/tool", 1_010, text)] },
    ]);
    await updateDerived(world.modules);
  });

  test("names the other one with the evidence, and links to it", async () => {
    const old = await notices("/repos/github/o/tool");
    assert.equal(old.status, 200);
    const why = "1,000 → 1,010 stars, same description, same name, same language";
    assert.ok(
      old.notices.some((notice) => notice.startsWith(`Looks like n/tool since 30 Apr 2026: ${why}.`)),
      old.notices.join("\n"),
    );
    assert.match(old.html, /<a href="\/repos\/github\/n\/tool"><bdi>n\/tool<\/bdi><\/a>/);
    const living = await notices("/repos/github/n/tool");
    assert.ok(
      living.notices.some((notice) =>
        notice.startsWith(`Seems to have been o/tool until 29 Apr 2026: ${why}.`),
      ),
      living.notices.join("\n"),
    );
    assert.match(living.html, /<a href="\/repos\/github\/o\/tool"><bdi>o\/tool<\/bdi><\/a>/);
  });

  test("is said where the old name is searched for", async () => {
    const { html } = await open(world, "/explore?q=o%2Ftool");
    assert.match(textOf(html), /o\/tool seems to continue as n\/tool/);
  });

  test("is marked in lists of growth, under the new name", async () => {
    const { html } = await open(world, "/explore?sort=stars-gained&window=24h");
    assert.match(textOf(html), /n\/tool\s+new name/);
  });

  test("leads from lists that keep the old name, such as a watchlist, to the new one", async () => {
    const { catalog, watchlists } = world.modules;
    const old = await catalog.findByName("GITHUB", "o/tool");
    const { shareToken } = await watchlists.create("Mine", [old?.repository.id ?? 0]);
    const { html } = await open(world, `/watchlists/${shareToken}`);
    assert.match(html, /<a class="badge caution" href="\/repos\/github\/n\/tool">now n\/tool<\/a>/);
  });

  test("redirects once it is accepted, and says nothing once it is rejected", async () => {
    await world.modules.catalog.decideRename(1, "accept");
    const { status } = await open(world, "/repos/github/o/tool");
    assert.equal(status, 301);
    const living = await notices("/repos/github/n/tool");
    assert.ok(
      living.notices.some((notice) => notice.startsWith("Was o/tool until 29 Apr 2026")),
      living.notices.join("\n"),
    );
    await world.modules.catalog.decideRename(1, "reject");
    for (const path of ["/repos/github/o/tool", "/repos/github/n/tool"])
      assert.ok(
        !(await notices(path)).notices.some((notice) => / (as|been|Was) [no]\/tool/.test(notice)),
        path,
      );
  });
});
