import assert from "node:assert/strict";
import { before, test } from "node:test";
import { dateText } from "../../src/charts/charts.js";
import { failedCursor, historyStateOf } from "../../src/repositories/history-state.js";
import { NO_HISTORY } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openPage } from "../support/page.js";
import { readPicture } from "../support/svg.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const HOUR_MS = 3_600_000;
const DAY = Date.UTC(2024, 2, 3);
const PART = JSON.stringify({ next: "3", day: DAY, stars: 1 });
const REPOSITORY = "github:a/one";

onSqliteAndLong("A star history that is not whole", (engine) => {
  let world: World;
  let id = 0;
  before(async () => {
    world = await createWorld(engine);
    // Long before anybody looked.
    const createdAt = NOW - 400 * 24 * HOUR_MS;
    await world.record(observation("a/one", daily(1, 2, 3, 4), { facts: { createdAt } }));
    id = (await world.modules.catalog.findByName("GITHUB", "a/one"))?.repository.id ?? assert.fail();
    const row = { repository_id: id, provider: "GITHUB", failures: 0 };
    await world.modules.database.write.insertInto("tracking").values(row).execute();
  });
  const store = async (history_cursor: string | null, history_due: number | null) => {
    await world.modules.database.write.updateTable("tracking").set({ history_cursor, history_due }).execute();
    // As whatever reads a history does.
    await world.record(observation("a/other", []));
    assert.deepEqual(
      await world.modules.catalog.historyState(id),
      historyStateOf(history_cursor, history_due),
    );
  };
  /** What each surface says. */
  const said = async () => {
    const detail = (await world.get(`/api/repos/${id}`)).body.data;
    const metrics = (await world.get(`/api/repos/${id}/metrics?window=all`)).body.meta;
    const chart = (await world.get(`/api/embed/chart?repo=${REPOSITORY}&window=all`)).body.data;
    assert.deepEqual([metrics.history, chart.series[0].history], [detail.history, detail.history]);
    const picture = readPicture((await world.get(`/api/embed/chart.svg?repo=${REPOSITORY}&window=all`)).body);
    const { text } = await openPage(world, "/repos/github/a/one");
    return {
      history: detail.history,
      picture: picture.texts.flatMap(({ text }) => /since \d+ \w+ \d{4}/.exec(text)?.[0] ?? []),
      page: /(Its star history|Reading its|GitHub (?:refused|did))[^.]*\.(?: (?:It is|Next)[^.]*\.)*/.exec(
        text,
      )?.[0],
    };
  };
  const since = `since ${new Date(NOW - 3 * 24 * HOUR_MS).toUTCString().slice(5, 16).replace(/^0/, "")}`;

  test("says nothing where it is whole, or where there is none to read", async () => {
    await store(null, null);
    assert.deepEqual(await said(), { history: NO_HISTORY, picture: [], page: undefined });
    await store("", null);
    assert.deepEqual(await said(), {
      history: { ...NO_HISTORY, state: "WHOLE" },
      picture: [],
      page: undefined,
    });
  });

  test("has one state in the API, in words on the page, and a beginning in the picture", async () => {
    await store(null, NOW - HOUR_MS);
    assert.deepEqual(await said(), {
      history: { ...NO_HISTORY, state: "WAITING" },
      picture: [since],
      page: "Its star history is not read yet.",
    });
    const nextTryAt = new Date(NOW + HOUR_MS).toISOString();
    await store(PART, NOW + HOUR_MS);
    assert.deepEqual(await said(), {
      history: { state: "READING", readTo: "2024-03-03", why: null, nextTryAt },
      picture: [since],
      page: "Reading its star history: back to 3 Mar 2024.",
    });
    await store(failedCursor(PART, "UNREACHABLE"), NOW + HOUR_MS);
    const { page, history, picture } = await said();
    assert.deepEqual(history, { state: "REFUSED", readTo: "2024-03-03", why: "UNREACHABLE", nextTryAt });
    assert.deepEqual(picture, [since]);
    assert.match(
      page ?? "",
      /^GitHub did not return its star history\. It is read back to 3 Mar 2024\. Next try \d+ \w+ \d{4}, \d\d:\d\d UTC\.$/,
    );
  });

  test("ends on the same day in every range of its page and its pictures", async () => {
    const past = Array.from({ length: 900 }, (_, i) =>
      snapshot((1_000 - i) * 24, i < 100 ? i : i + 50, { source: "BACKFILLED" as const }),
    );
    const own = daily(...Array.from({ length: 100 }, (_, i) => 950 + i));
    await world.record(observation("b/long", [...past, ...own]));
    const note = `before ${dateText(own[0]?.capturedAt ?? 0)}: GitHub’s history`;
    for (const range of ["1y", "all"]) {
      const { body } = await world.get(`/api/embed/chart.svg?repo=github:b/long&window=${range}`);
      assert.ok(readPicture(body).texts.some(({ text }) => text.startsWith(note)));
      const { text } = await openPage(world, `/repos/github/b/long?range=${range}`);
      assert.ok(text.includes(`B${note.slice(1)}, without stars taken back before it was read.`));
      assert.match(text, /Best day: \+51 stars/, "two years ago");
    }
    const { body } = await world.get("/api/embed/chart.svg?repo=github:b/long&window=90d");
    assert.doesNotMatch(body, /history/, "a range of totals alone");
  });
});
