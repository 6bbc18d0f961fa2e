import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { createWorld, daily, observation } from "../support/world.js";

/** Stars, language, topics, description. */
const ARCHIVE: Readonly<Record<string, readonly [number, string, string, string]>> = {
  "agents/claude": [90_000, "Shell", "", "An agentic coding tool that lives in your terminal"],
  "agents/codex": [60_000, "Rust", "", "Lightweight coding agent that runs in your terminal"],
  "agents/gemini": [80_000, "TypeScript", "", "An AI agent for coding in the terminal"],
  "agents/claude-themes": [200, "CSS", "", "Themes for Claude"],
  "web/react": [200_000, "JavaScript", "ui frontend", "The library for user interfaces"],
  "web/preact": [30_000, "JavaScript", "ui frontend", "A fast alternative with the same API"],
  "web/vue": [190_000, "TypeScript", "ui frontend", "Progressive"],
  "web/archived": [200_000, "JavaScript", "ui frontend", "The library for user interfaces"],
  "old/youtube-dl": [120_000, "Python", "", "Download videos of many sites"],
  "lone/kernel": [150_000, "Rust", "", "Scheduler, drivers and memory"],
};
const FILLERS = 60;

onSqlite("similar repositories", (engine) => {
  test("share topics or words in any form; none where nothing fits", async () => {
    const world = await createWorld(engine);
    const fillers = Array.from({ length: FILLERS }, (_, i) =>
      observation(`filler/f${i}`, daily(70_000 + i), {
        facts: { language: "Rust", description: `Number${i} of the fast ones for your a${i}` },
      }),
    );
    const named = Object.entries(ARCHIVE).map(([name, [stars, language, topics, description]]) =>
      observation(name, daily(stars), {
        facts: {
          language,
          topics: topics.split(" ").filter((topic) => topic !== ""),
          description,
          archived: name === "web/archived",
        },
      }),
    );
    await world.record(...fillers, ...named);
    const similar = async (name: string) => {
      const found = await world.modules.catalog.findByName("GITHUB", name);
      assert.ok(found);
      const ids = await world.modules.rankings.similar(found.repository, 3);
      return (await world.modules.catalog.findMany(ids)).map(({ fullName }) => fullName);
    };
    assert.deepEqual((await similar("agents/claude")).toSorted(), ["agents/codex", "agents/gemini"]);
    assert.deepEqual((await similar("agents/codex")).toSorted(), ["agents/claude", "agents/gemini"]);
    assert.deepEqual((await similar("web/react")).toSorted(), ["web/preact", "web/vue"]);
    assert.deepEqual(await similar("lone/kernel"), []);
    assert.deepEqual(await similar("old/youtube-dl"), []);
  });
});
