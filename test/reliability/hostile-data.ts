import type { ResultRow } from "../../bench/support/results.js";
import type { Engine } from "../support/engines.js";
import { hostileTexts } from "../support/hostile-texts.js";
import { withEngines } from "./support/engines.js";
import { assertHappened, type Harness, type HarnessContext, rowMaker } from "./support/harness.js";
import { attackWithData, type DataAttack } from "./support/hostile-attack.js";
import { VIOLATIONS } from "./support/hostile-checks.js";

/** Texts, each of which makes several records at each door. */
const TEXTS = { short: 60, long: 250 } as const;
/** Of all requests to all routes about all records, one in EVERY is sent; fewer to the slower engine, which gets the same values. */
const EVERY = {
  short: { sqlite: 1_000, postgres: 4_000 },
  long: { sqlite: 20, postgres: 20 },
} as const;
const SEED = 20_260_430;

export const hostileData: Harness = {
  name: "hostile-data",
  proves:
    "Hostile records get through imports and providers only in a harmless form, and no page, picture, feed, file or JSON response is broken or made to run by them.",
  async run({ scale, report }: HarnessContext): Promise<ResultRow[]> {
    const texts = hostileTexts(TEXTS[scale], SEED);
    const rows: ResultRow[] = [];
    await withEngines(async (engine) => {
      report(engine.name);
      const attack = await attackWithData(engine, { texts, every: EVERY[scale][engine.name], report });
      rows.push(...rowsOf(engine.name, attack));
    });
    return rows;
  },
};

function rowsOf(engine: Engine["name"], attack: DataAttack): ResultRow[] {
  assertHappened(attack.stored, "records got in", 60);
  assertHappened(attack.refused, "lines were refused", 60);
  assertHappened(attack.tracked, "records came from forges", 60);
  assertHappened(attack.answered.get("2xx") ?? 0, "responses with content", 300);
  const row = rowMaker({ engine });
  const none = { atMost: 0 };
  return [
    row("records sent to the import", attack.sent, "lines"),
    row("lines refused, with the reason", attack.refused, "lines"),
    row("lines refused without naming the field", attack.unexplained, "lines", none),
    row("repositories stored", attack.stored, "repositories"),
    row("of them from providers", attack.tracked, "repositories"),
    row("stored texts that break the rules of records", attack.unclean, "texts", none),
    row("lines of an export that an import refuses", attack.lost, "lines", none),
    ...[...attack.answered].sort().map(([status, count]) => row(`responses: ${status}`, count, "responses")),
    ...VIOLATIONS.map((kind) => row(kind, attack.violations.get(kind) ?? 0, "responses", none)),
  ];
}
