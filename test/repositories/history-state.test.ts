import assert from "node:assert/strict";
import { test } from "node:test";
import { historyWords } from "../../src/charts/words.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import {
  failedCursor,
  HISTORY_REFUSALS,
  HISTORY_STATES,
  historyCounts,
  historyStateOf,
  isHistoryMissing,
  isHistoryUnread,
  readHistoryStates,
} from "../../src/repositories/history-state.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, NOW, observation } from "../support/world.js";

/** 3 March 2024. */
const DAY = Date.UTC(2024, 2, 3);
const PART = JSON.stringify({ next: '"failures":', day: DAY, stars: 12 });
const refused = HISTORY_REFUSALS.flatMap((why) => [failedCursor(null, why), failedCursor(PART, why)]);

/** All that may be stored: the cursor, when the next page is due, and the state. */
const STORED: readonly [cursor: string | null, due: number | null, state: string, readTo: number | null][] = [
  [null, null, "NOT_OFFERED", null],
  [null, NOW, "WAITING", null],
  ["", NOW, "WAITING", null],
  ["", null, "WHOLE", null],
  [PART, NOW + HOUR_MS, "READING", DAY],
  // Of earlier versions, without a reason.
  ['{"failures":2}', NOW, "REFUSED", null],
  [JSON.stringify({ ...JSON.parse(PART), failures: 1 }), NOW, "REFUSED", DAY],
  ...refused.map((cursor): (typeof STORED)[number] => {
    const { why, day = null } = JSON.parse(cursor);
    return [cursor, NOW + DAY_MS, why === "NONE" && day === null ? "NOT_OFFERED" : "REFUSED", day];
  }),
];

test("a history is missing while it may be read, and unread while nothing of it is", () => {
  for (const [cursor, due, state, readTo] of STORED) {
    const history = historyStateOf(cursor, due);
    assert.deepEqual([history.state, history.readTo], [state, readTo], String(cursor));
    const isMissing = ["WAITING", "READING", "REFUSED"].includes(state);
    assert.deepEqual(
      [isHistoryMissing(history), isHistoryUnread(history)],
      [isMissing, isMissing && readTo === null],
    );
    assert.equal(historyWords(history, "GITHUB") === undefined, !isMissing);
  }
});

test("another failure keeps the part that is read, and counts on", () => {
  const twice = failedCursor(failedCursor(PART, "UNREACHABLE"), "NOT_READY");
  assert.deepEqual(JSON.parse(twice), { ...JSON.parse(PART), failures: 2, why: "NOT_READY" });
});

test("a history that is not whole is explained in plain words", () => {
  const words = (cursor: string | null, now?: number) =>
    historyWords(historyStateOf(cursor, DAY + 14 * HOUR_MS), "GITHUB", now);
  assert.equal(words(null, DAY), "Its star history is not read yet.");
  assert.equal(words(PART, DAY), "Reading its star history: back to 3 Mar 2024.");
  assert.equal(
    words(failedCursor(null, "FORBIDDEN"), DAY),
    "GitHub refused its star history. Next try 3 Mar 2024, 14:00 UTC.",
  );
  assert.equal(
    words(failedCursor(PART, "UNREACHABLE")),
    "GitHub did not return its star history. It is read back to 3 Mar 2024.",
  );
});

onSqliteAndLong("The states of star histories", (engine) => {
  test("are counted as each of them is read", async () => {
    const world = await createWorld(engine);
    const { write, read, dialect } = world.modules.database;
    const ids: number[] = [];
    for (const [i, [history_cursor, history_due]] of STORED.entries()) {
      await world.record(observation(`a/r${i}`, []));
      const { id } =
        (await world.modules.catalog.findByName("GITHUB", `a/r${i}`))?.repository ?? assert.fail();
      const row = { repository_id: id, provider: "GITHUB", failures: 0, history_cursor, history_due };
      await write.insertInto("tracking").values(row).execute();
      ids.push(id);
    }
    const states = await readHistoryStates(read, dialect, ids);
    assert.deepEqual(
      ids.map((id) => states.get(id)?.state),
      STORED.map(([, , state]) => state),
    );
    const counts = await historyCounts(read, "GITHUB");
    for (const state of HISTORY_STATES)
      assert.equal(counts[state], STORED.filter(([, , one]) => one === state).length, state);
    assert.equal((await historyCounts(read, "GITLAB")).WHOLE, 0);
  });
});
