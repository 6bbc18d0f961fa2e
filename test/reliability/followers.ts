import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ResultRow } from "../../bench/support/results.js";
import { openStore } from "../../bench/support/stores.js";
import { Random } from "../../bench/synthetic/random.js";
import { repositoryView } from "../../src/api/views.js";
import type { Window } from "../../src/growth/growth.js";
import type { Modules } from "../../src/modules.js";
import { connectToServer } from "../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { Follower } from "./support/follower.js";
import { assertHappened, countMaker, type Harness, type HarnessContext } from "./support/harness.js";
import { RandomChanges } from "./support/random-changes.js";
import { MAIN, type Place, WrittenService } from "./support/written-service.js";

const CHANGES = { short: 200, long: 2_000 } as const;
const CHECKPOINTS = { short: 4, long: 10 } as const;
/** How long a follower may take to have what was written last. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;
const SEED = Number(process.env.SEED ?? 1);

export const followers: Harness = {
  name: "followers",
  proves:
    "Copies that follow the log of changes are equal to the catalogue whenever they have read all of it, while it changes and the service is restarted and killed.",
  async run(context) {
    const dataDir = mkdtempSync(join(tmpdir(), "sidereal-followers-"));
    const server = await connectToServer();
    const url = await createTestDatabase(server.port);
    try {
      const sqlite = await followAll(context, { url: undefined, dataDir });
      const postgres = await followAll(context, { url, dataDir });
      return [...sqlite, ...postgres];
    } finally {
      await dropTestDatabase(url);
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

async function followAll({ scale, report }: HarnessContext, place: Place): Promise<ResultRow[]> {
  const engine = place.url === undefined ? "sqlite" : "postgres";
  const modules = await openStore(place);
  const changes = new RandomChanges(modules, new Random(SEED));
  const copies = [new Follower("24h", 100), new Follower("30d", 7)];
  const following = new AbortController();
  const start = () => WrittenService.start([MAIN, "serve"], place);
  let service = await start();
  const running = copies.map((copy) => copy.run(() => service.url, following.signal));
  const [each, checkpoints] = [CHANGES[scale] / CHECKPOINTS[scale], CHECKPOINTS[scale]];
  let wrong = 0;
  try {
    for (let checkpoint = 1; checkpoint <= checkpoints; checkpoint++) {
      // Between two checkpoints the service ends, and is back while changes continue; once it is killed.
      const isKilled = checkpoint === Math.ceil(checkpoints / 2);
      const again = setTimeout(0).then(async () => {
        await (isKilled ? service.kill() : service.stop());
        service = await start();
      });
      for (let i = 0; i < each; i++) await changes.make();
      await again;
      await modules.rankings.update();
      for (const copy of copies) wrong += await differences(modules, copy, report);
      report(
        `${engine}, checkpoint ${checkpoint}: ${copies[0]?.copy.size} repositories, ${wrong} differences`,
      );
    }
  } finally {
    following.abort();
    await Promise.all(running);
    await service.kill();
    await modules.database.close();
  }
  for (const [kind, count] of changes.counts) report(`${engine}: ${count} of the kind ${kind}`);
  assertHappened(changes.counts.size, "kinds of changes", 8);
  const sum = (of: (copy: Follower) => number) => copies.reduce((total, copy) => total + of(copy), 0);
  assertHappened(
    sum(({ failed }) => failed),
    "requests while the service was down",
  );
  const row = countMaker({ engine });
  const none = { atMost: 0 };
  return [
    row("changes", CHANGES[scale]),
    row("checkpoints of two followers", checkpoints),
    row("records that differ at a checkpoint", wrong, none),
    row(
      "times that a follower had to begin again",
      sum(({ expired }) => expired),
      none,
    ),
  ];
}

/** The number of records in which a copy differs from the catalogue, once it has read the whole log. */
async function differences(
  { catalog, lists }: Modules,
  copy: Follower,
  report: (line: string) => void,
): Promise<number> {
  const { value } = await catalog.revision();
  for (let waited = 0; copy.revision < value; waited += LOOK_MS) {
    if (waited > PATIENCE_MS) throw new Error(`a follower is at ${copy.revision} of ${value}`);
    await setTimeout(LOOK_MS);
  }
  const expected = await records({ catalog, lists }, copy.window);
  const ids = new Set([...expected.keys(), ...copy.copy.keys()]);
  const wrong = [...ids].filter((id) => !isDeepStrictEqual(copy.copy.get(id), expected.get(id)));
  for (const id of wrong.slice(0, 3))
    report(`${id}: ${JSON.stringify(copy.copy.get(id))} instead of ${JSON.stringify(expected.get(id))}`);
  return wrong.length;
}

/** All repositories but joined ones, as responses have them. */
async function records(
  { catalog, lists }: Pick<Modules, "catalog" | "lists">,
  window: Window,
): Promise<Map<string, object>> {
  const dumped = await catalog.dump(0, 100_000);
  const ids = dumped.map(({ repository }) => repository.id);
  const rows = await lists.rows(ids, window);
  return new Map(
    rows
      .filter(({ repository }) => repository.availability !== "RENAMED")
      .map((row) => [String(row.repository.id), JSON.parse(JSON.stringify(repositoryView(row)))]),
  );
}
