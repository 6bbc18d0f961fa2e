/** The harness `malformed`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResultRow } from "../../../bench/support/results.js";
import { openDatabase } from "../../../src/database/database.js";
import { createLog } from "../../../src/lib/log.js";
import { startSmallService } from "../../support/raw.js";
import { assertHappened, type Harness } from "../support/harness.js";
import { type MalformedResult, sendMalformed } from "./malformed.js";
import { startNginx, withoutNginx } from "./nginx.js";

/** Rounds over all forbidden forms, and changed requests after each of them. */
const AMOUNT = { short: { rounds: 1, changed: 200 }, long: { rounds: 40, changed: 1_000 } } as const;

export const malformedHarness: Harness = {
  name: "malformed",
  proves:
    "Malformed requests are refused without a server error and end their connection, and no response reaches another request, directly and behind nginx.",
  async run({ scale, report }) {
    const dataDir = mkdtempSync(join(tmpdir(), "sidereal-malformed-"));
    const database = await openDatabase({ url: undefined, dataDir, pool: 4, log: createLog("silent") });
    // Every case is a connection of its own, which limits would end to refuse it.
    const service = await startSmallService(database, { SIDEREAL_LIMITS: "false" });
    const amount = { seed: 1, ...AMOUNT[scale] };
    const rows: ResultRow[] = [];
    const add = (place: string, result: MalformedResult) => {
      for (const failure of result.failures) report(failure);
      assertHappened(result.refused, `requests refused ${place}`, result.sent / 4);
      rows.push(...rowsOf(place, result));
    };
    try {
      add("directly", await sendMalformed({ ...amount, port: service.port, isBehindProxy: false }));
      if (withoutNginx === false) {
        const nginx = await startNginx(service.port);
        try {
          add("behind nginx", await sendMalformed({ ...amount, port: nginx.port, isBehindProxy: true }));
        } finally {
          await nginx.stop();
        }
      } else report(withoutNginx);
    } finally {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
    return rows;
  },
};

function rowsOf(place: string, { sent, refused, failures }: MalformedResult): ResultRow[] {
  return [
    { measure: `malformed connections, ${place}`, value: sent, unit: "connections" },
    { measure: `connections with a refusal, ${place}`, value: refused, unit: "connections" },
    { measure: `broken rules, ${place}`, value: failures.length, unit: "kinds", target: { atMost: 0 } },
  ];
}
