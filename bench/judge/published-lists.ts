/** Published lists of stars gained in a day, by date. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Full names in lower case, with the stars gained. */
export type PublishedList = ReadonlyMap<string, number>;

const MOST_OUTPUT = 1e9;

const monthSchema = z.object({
  days: z.record(
    z.string(),
    z.array(z.object({ repos: z.array(z.object({ repo: z.string(), today: z.coerce.number() })) })),
  ),
});
const daySchema = z.object({
  repos: z.array(z.object({ fullName: z.string(), todayStars: z.coerce.number() })),
});

/** November 2025, 19 languages, scraped in the first hours of each date. */
export function publishedByLanguage(data: string): Map<string, PublishedList> {
  const path = join(data, "trending/outslept-github-trending/2025-11.json.xz");
  if (!existsSync(path)) return new Map();
  const { days } = monthSchema.parse(JSON.parse(output("xz", ["-dc", path])));
  return new Map(
    Object.entries(days).map(([day, lists]) => {
      const rows = lists.flatMap(({ repos }) =>
        repos.map(({ repo, today }) => [repo.toLowerCase(), today] as const),
      );
      return [`2025-11-${day.padStart(2, "0")}`, new Map(rows)];
    }),
  );
}

/** 17 to 31 December 2025, all languages, scraped in the last hour of each date. */
export function publishedOverall(data: string): Map<string, PublishedList> {
  const path = join(data, "trending/bhwa233-github-trending/daily.tar.xz");
  if (!existsSync(path)) return new Map();
  const files = output("tar", ["tJf", path]).trim().split("\n");
  return new Map(
    files
      .filter((file) => file.endsWith(".json"))
      .map((file) => {
        const { repos } = daySchema.parse(JSON.parse(output("tar", ["xJOf", path, file])));
        const rows = repos.map(({ fullName, todayStars }) => [fullName.toLowerCase(), todayStars] as const);
        return [/\d{4}-\d{2}-\d{2}/.exec(file)?.[0] ?? "", new Map(rows)];
      }),
  );
}

function output(command: string, given: readonly string[]): string {
  return execFileSync(command, given, { encoding: "utf8", maxBuffer: MOST_OUTPUT });
}
