import type { FC } from "hono/jsx";
import { withQuery } from "./addresses.js";
import { feedPath } from "./sorts.js";

/** A list in another format. */
export interface Alternate {
  type: string;
  href: string;
  name: string;
}

/** Other formats of the list at this address of the explore page: JSON, CSV, and a feed if its sort has one. */
export function alternatesOf(url: URL, sort: string): Alternate[] {
  const data = new URL(url);
  data.pathname = "/api/repos";
  const feed = feedPath(sort);
  const feedUrl = new URL(url);
  feedUrl.pathname = feed ?? "";
  const unordered = { sort: undefined, order: undefined, limit: undefined };
  // Feeds default to a week, lists to a day.
  const window = url.searchParams.get("window") ?? "24h";
  return [
    { type: "text/csv", href: withQuery(data, { format: "csv", limit: "100" }), name: "CSV" },
    { type: "application/json", href: withQuery(data, {}), name: "JSON" },
    ...(feed === undefined
      ? []
      : [
          {
            type: "application/atom+xml",
            href: withQuery(feedUrl, { ...unordered, window }),
            name: "Atom feed",
          },
        ]),
  ];
}

/** Links to the list in other formats. */
export const Alternates: FC<{ alternates: readonly Alternate[] }> = ({ alternates }) => (
  <p class="soft small ways">
    Download:{" "}
    {alternates.map(({ href, name }, i) => (
      <>
        {i === 0 ? "" : " · "}
        <a href={href}>{name}</a>
      </>
    ))}
  </p>
);
