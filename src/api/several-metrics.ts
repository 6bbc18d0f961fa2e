import { freshnessOf } from "../discovery/discovery.js";
import { readSeveralStored } from "../growth/growth.js";
import { jsonText } from "../http/http.js";
import { timeOrNull } from "../lib/clock.js";
import { ownTurn } from "../lib/loop-turns.js";
import { idSchema, time, z } from "../lib/schema.js";
import type { Modules } from "../modules.js";
import { AVAILABILITIES, isStale, type Repository, spanOfTimes } from "../repositories/repositories.js";
import { csvFile, csvHeader, csvLine, formatParameter, orCsv } from "./csv.js";
import {
  POINTS_PER_UNIT,
  SNAPSHOT_COLUMNS,
  seriesQuery,
  seriesWindowMs,
  seriesWindowParameter,
  snapshotRow,
  spanName,
} from "./metrics.js";
import {
  findReferenced,
  missingReferences,
  readReferences,
  repositoriesParameter,
  textsOf,
} from "./named.js";
import { dataMetaResponse, operation } from "./operation.js";
import { checkDays } from "./parameters.js";
import { gapsSchema, seriesPartsView, snapshotSchema, thinningFields } from "./series-views.js";
import { freshnessFields, freshnessView, renamedView } from "./views.js";

/** Points written in one turn of the event loop, so that no other request waits long. */
const TURN_POINTS = 2_000;

const seriesSchema = z
  .object({
    repositoryId: idSchema,
    provider: z.string(),
    fullName: z.string(),
    renamedFrom: z.string().optional().openapi({ description: "See Repository." }),
    availability: z.enum(AVAILABILITIES),
    asOf: freshnessFields.asOf,
    lastSeenAt: time.nullable(),
    stale: z.boolean().openapi({ description: "See Repository." }),
    points: z.array(snapshotSchema).openapi({ description: "Oldest first." }),
    gaps: gapsSchema,
  })
  .openapi("Series");

const metaSchema = z.object({
  window: seriesWindowParameter.nullable().openapi({ description: "null with from." }),
  ...thinningFields,
  pointCount: z.int().openapi({ description: "Points of all series together." }),
  ...freshnessFields,
  requested: z.int().openapi({ description: "The number of values of `repo`." }),
  missing: z.array(z.string()).openapi({ description: "The values that lead to no repository, as given." }),
});

/** The series of repositories in some days or a window, and the units that they cost. Throws VALIDATION_FAILED for days in the wrong order. */
export async function readSeveral(
  { database }: Pick<Modules, "database">,
  repositories: readonly Repository[],
  { window, step, ...days }: Pick<z.output<typeof seriesQuery>, "window" | "from" | "to" | "step">,
) {
  checkDays(days);
  const span = spanOfTimes(days, seriesWindowMs(window));
  const ids = repositories.map(({ id }) => id);
  const several = await readSeveralStored(database, ids, { ...span, step });
  const units = 1 + Math.floor(several.points / POINTS_PER_UNIT);
  return { several, units };
}

export const listSeveralMetrics = operation({
  id: "listSeveralMetrics",
  tags: ["Repositories"],
  summary: "The snapshots of up to 100 repositories over time",
  description:
    "In the order of the request. All have the finest step by which there are at most 20,000 points in all, and of each 2,000, or 10,000 with from or to. Costs one unit, and one for each 2,000 points.",
  query: seriesQuery.extend({
    repo: repositoriesParameter,
    format: formatParameter,
  }),
  responses: {
    200: orCsv(dataMetaResponse("The series.", z.array(seriesSchema), metaSchema), SNAPSHOT_COLUMNS),
  },
  handle: async ({ query, services }) => {
    const { modules, clock } = services;
    const { catalog } = modules;
    const { window, from, step, format } = query;
    const references = readReferences({ repo: query.repo });
    const found = await findReferenced(modules, references);
    const repositories = await catalog.findMany(found.ids);
    const { several, units } = await readSeveral(modules, repositories, query);
    const recency = await catalog.recency();

    const parts: string[] = [];
    let written = 0;
    for (const repository of repositories) {
      const series = several.of(repository.id);
      written += series.points.length;
      if (format === "csv") {
        parts.push(
          ...series.points.map((point) => csvLine(SNAPSHOT_COLUMNS, snapshotRow(repository, point))),
        );
      } else {
        const view: z.output<typeof seriesSchema> = {
          repositoryId: String(repository.id),
          provider: repository.provider,
          fullName: repository.fullName,
          ...renamedView(found.renamedFrom.get(repository.id)),
          availability: repository.availability,
          asOf: timeOrNull(repository.countedAt),
          lastSeenAt: timeOrNull(repository.countedAt),
          stale: isStale(repository, recency),
          ...seriesPartsView(series),
        };
        parts.push(parts.length === 0 ? "" : ",", JSON.stringify(view));
      }
      if (written < TURN_POINTS) continue;
      written = 0;
      await ownTurn();
    }

    if (format === "csv")
      return {
        ...csvFile(`sidereal-metrics-${spanName(query)}`, csvHeader(SNAPSHOT_COLUMNS) + parts.join("")),
        units,
      };
    const { asOf } = freshnessOf(repositories.map(({ countedAt }) => countedAt));
    const missing = missingReferences(references, found, new Set(repositories.map(({ id }) => id)));
    const meta: z.output<typeof metaSchema> = {
      window: from === undefined ? window : null,
      resolution: several.resolution,
      thinned: several.resolution !== step || several.isCut,
      pointCount: several.points,
      ...freshnessView(asOf, clock.now()),
      requested: references.length,
      missing: textsOf(missing),
    };
    return { ...jsonText(`{"data":[${parts.join("")}],"meta":${JSON.stringify(meta)}}`), units };
  },
});
