import {
  ALIGNMENTS,
  CHART_WINDOWS,
  MAX_SERIES,
  METRICS,
  SCALES,
  SHAPES,
  STYLES,
  THEMES,
  VIEWS,
} from "../charts/charts.js";
import { count, dayParameter } from "../discovery/discovery.js";
import type { Reply } from "../http/http.js";
import { DAY_MS, isoDay } from "../lib/clock.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import { queryOf, type RepositoryName, repositoryKey } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import type { Modules } from "../modules.js";
import { type Repository, readRepositoryName } from "../repositories/repositories.js";
import type { ApiServices } from "./operation.js";
import { daysParameters } from "./parameters.js";
import { BEING_READ, READING_CACHE } from "./pictures.js";
import { renamedView } from "./views.js";

const REFERENCE = {
  type: "string",
  pattern: "^[^:]+:.+/[^/]+$",
  maxLength: 440,
  example: "github:facebook/react",
} as const;

/** The parameter `repo`: `provider:owner/name`. */
export const repositoryReference = z
  .string()
  .max(440)
  .transform((text, context): RepositoryName => {
    const name = readRepositoryName(text);
    if (name !== undefined) return name;
    context.addIssue({ code: "custom", message: "must be of the form provider:owner/name" });
    return z.NEVER;
  })
  .openapi({
    ...REFERENCE,
    description: "provider:owner/name, case-insensitive; previous names work too.",
  });

const repositoryReferences = z
  .union(
    [repositoryReference.transform((one) => [one]), z.array(repositoryReference).min(1).max(MAX_SERIES)],
    {
      error: `must be of the form provider:owner/name, 1 to ${MAX_SERIES} times`,
    },
  )
  .openapi({
    type: "array",
    minItems: 1,
    maxItems: MAX_SERIES,
    items: REFERENCE,
    description: `provider:owner/name, case-insensitive, 1 to ${MAX_SERIES} times; lines have this order.`,
  });

export const themeParameter = z
  .enum(THEMES)
  .default("auto")
  .openapi({ description: "auto: follows the light or dark setting of the reader's system." });

/** Shapes that a chart may have; the fourth one is that of cards. */
export const CHART_SHAPES = ["readme", "post", "square"] as const;

/** Behind the drawing: paper, or the page that shows it. */
export const BACKGROUNDS = ["paper", "clear"] as const;

const MAX_TITLE = 80;
/** The title that replaces the one of a chart. */
export const titleParameter = z
  .string()
  .trim()
  .min(1, `must have 1 to ${MAX_TITLE} characters`)
  .max(MAX_TITLE, `must have 1 to ${MAX_TITLE} characters`)
  .optional();

const sizeText = (shape: (typeof CHART_SHAPES)[number]) =>
  `${shape} ${SHAPES[shape].width} × ${SHAPES[shape].height}`;

export const chartQuery = z.object({
  repo: repositoryReferences,
  metric: z.enum(METRICS).default("stars"),
  window: z
    .enum(CHART_WINDOWS)
    .default("1y")
    .openapi({ description: "The time before the newest counts of the repository." }),
  ...daysParameters,
  view: z.enum(VIEWS).default("total").openapi({ description: "per-day: gains per day, on a linear scale." }),
  theme: themeParameter,
  shape: z
    .enum(CHART_SHAPES)
    .default("readme")
    .openapi({ description: `${CHART_SHAPES.map(sizeText).join(", ")}.` }),
  width: count(320, 1_200).optional().openapi({ description: "Of shape readme only." }),
  height: count(220, 800).optional().openapi({ description: "Of shape readme only." }),
  style: z
    .enum(STYLES)
    .default("plain")
    .openapi({ description: "sketch: lines and axes as if drawn by hand." }),
  background: z.enum(BACKGROUNDS).default("paper").openapi({
    description: "clear: none, for a page whose colour fits the theme.",
  }),
  title: titleParameter.openapi({ description: "Instead of the title of the chart.", example: "My stars" }),
  scale: z.enum(SCALES).default("linear"),
  align: z.enum(ALIGNMENTS).default("date").openapi({
    description:
      "age: the snapshots of the window by the age of the repository; those whose creation is unknown are left out. first-snapshot, first-count: by the time since the first snapshot, or since the first count in the window that is at least `first`. index: by date, each count divided by that of `base`, times 100; always totals.",
  }),
  first: count(1, 1_000_000_000).optional().openapi({
    description: "The count of first-count; default: the highest power of ten that most repositories passed.",
  }),
  base: dayParameter.optional().openapi({
    description: "The day (UTC) of index; default: the first day on which all repositories have a count.",
  }),
});
export type ChartQuery = z.output<typeof chartQuery>;

/** The size of a chart in pixels. Throws VALIDATION_FAILED for a size of a shape that has its own. */
export function chartSize({ shape, width, height }: Pick<ChartQuery, "shape" | "width" | "height">) {
  const given = width === undefined ? height && "height" : "width";
  if (shape !== "readme" && given) {
    const { width: own, height: high } = SHAPES[shape];
    throw invalidParameter(
      given,
      `must not be given: ${shape} is always ${own} × ${high}, only readme has a width and height`,
    );
  }
  const size = SHAPES[shape];
  return { width: width ?? size.width, height: height ?? size.height };
}

/** The most pixels of a PNG: rendering one takes as long as a card then, and a sketch ten times as long. */
const MAX_PIXELS = 2_500_000;
const MAX_ZOOM = 3;

export const pngQuery = chartQuery.extend({
  zoom: z
    .string()
    .regex(/^(?:[12](?:\.\d{1,2})?|3)$/, `must be a number from 1 to ${MAX_ZOOM}, such as 2 or 1.5`)
    .transform(Number)
    .optional()
    .openapi({
      ...{ type: "number", minimum: 1, maximum: MAX_ZOOM, example: 2 },
      description: `Pixels for each of the drawing. width × height × zoom² is at most ${MAX_PIXELS / 1e6} megapixels. Default: 1 for post and square; for readme and for a sketch 2, or the most that is allowed.`,
    }),
});

/** Pixels of a PNG for each of its drawing. Throws VALIDATION_FAILED if these are too many. */
export function zoomOf({ zoom, ...query }: Omit<z.output<typeof pngQuery>, "repo">): number {
  const { width, height } = chartSize(query);
  const most = Math.floor(100 * Math.sqrt(MAX_PIXELS / (width * height))) / 100;
  if (zoom === undefined) return query.shape === "readme" || query.style === "sketch" ? Math.min(2, most) : 1;
  if (zoom <= most) return zoom;
  throw invalidParameter(
    "zoom",
    `must be at most ${most} for ${width} × ${height}: a picture has at most ${MAX_PIXELS / 1e6} megapixels`,
  );
}

/** A repository that was named, by an earlier name if it has `renamedFrom`. */
export type Named = Repository & { renamedFrom?: string };

/** The repositories with these names, without duplicates. Throws NOT_FOUND, listing the unknown ones, or else those that are being read. */
export async function getNamed(
  { catalog, trackRequests }: Pick<Modules, "catalog" | "trackRequests">,
  names: readonly RepositoryName[],
): Promise<Named[]> {
  const found = await Promise.all(
    names.map(({ provider, fullName }) => catalog.findByName(provider, fullName)),
  );
  const missing = names.filter((_, i) => found[i] === undefined);
  if (missing.length > 0) {
    const isRead = await Promise.all(missing.map((one) => trackRequests.isBeingRead(one)));
    const unknown = missing.filter((_, i) => isRead[i] !== true).map(repositoryKey);
    throw unknown.length > 0 ? notTracked(unknown) : beingRead(missing.map(repositoryKey));
  }
  const byId = new Map(
    found.flatMap((one, i): [number, Named][] => {
      if (one === undefined) return [];
      const { repository, isPreviousName } = one;
      return [
        [repository.id, { ...repository, ...renamedView(isPreviousName ? names[i]?.fullName : undefined) }],
      ];
    }),
  );
  return [...byId.values()];
}

function notTracked(values: readonly string[]): AppError {
  return new AppError("NOT_FOUND", `Not tracked here: ${values.join(", ")}`, {
    details: [{ parameter: "repo", message: "is not tracked here", values }],
  });
}

function beingRead(values: readonly string[]): AppError {
  return new AppError("NOT_FOUND", `Being read, and here in a moment: ${values.join(", ")}`, {
    details: [{ parameter: "repo", message: BEING_READ, values }],
    headers: { "Cache-Control": READING_CACHE, "Retry-After": "10" },
  });
}

/** A response about repositories, which is kept briefly while one of them is being read. Costs a query for those of the last day. */
export async function whileRead(
  { modules, clock }: Pick<ApiServices, "modules" | "clock">,
  repositories: readonly Pick<Repository, "provider" | "fullName" | "discoveredAt">[],
  reply: Reply,
): Promise<Reply> {
  const young = repositories.filter(({ discoveredAt }) => discoveredAt > clock.now() - DAY_MS);
  const isRead = await Promise.all(young.map((one) => modules.trackRequests.isBeingRead(one)));
  if (!isRead.includes(true)) return reply;
  return { ...reply, headers: { ...reply.headers, "Cache-Control": READING_CACHE } };
}

/** The address of a chart picture, without parameters that have their default value. */
export function chartAddress(
  baseUrl: string,
  names: readonly RepositoryName[],
  query: Omit<ChartQuery, "repo">,
): string {
  const defaults = chartQuery.omit({ repo: true }).parse({});
  const { from, to, base, ...given } = query;
  const day = (at: number | undefined) => (at === undefined ? undefined : isoDay(at));
  const others = Object.entries({ ...given, from: day(from), to: day(to), base: day(base) }).filter(
    ([name, value]) => value !== undefined && defaults[name as keyof typeof defaults] !== value,
  );
  const repositories = names.map((one) => ["repo", repositoryKey(one)] as const);
  const parameters = [...repositories, ...others.map(([name, value]) => [name, String(value)] as const)];
  return `${baseUrl}/api/embed/chart.svg?${queryOf(parameters)}`;
}
