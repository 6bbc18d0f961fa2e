/** The pages for people, rendered here; they work without any script. */
import { Hono } from "hono";
import type { Clock } from "../clock.js";
import type { Members, Modules } from "../modules.js";
import { Docs, type ReferenceDocument } from "./docs.js";
import { serveIndexes } from "./indexes.js";
import { HEADERS, render } from "./page.js";
import { serveSignIn } from "./sign-in.js";
import { Start } from "./start.js";
import { STYLES, STYLES_PATH } from "./styles.js";

export interface WebOptions {
  /** Asked for each request: the modules, and whether their catalogue is made up. */
  source: () => { modules: Modules; synthetic: boolean };
  members: () => Members;
  /** The contract of the API, for the reference. */
  document: () => ReferenceDocument;
  baseUrl: string;
  clock: Clock;
}

/** Repositories on the first page. */
const SHOWN = 10;

/** The pages as an application of their own, to be put beside the API. */
export function createWeb({ source, members, document, baseUrl, clock }: WebOptions): Hono {
  const app = new Hono();
  let reference: string | undefined;
  app.get("/", async (context) => {
    const { modules, synthetic } = source();
    const { catalog, rankings } = modules;
    const page = await catalog.list({
      filters: { archived: false, fork: false },
      order: rankings.growthOrder("stars_gained", "24h", "desc"),
      limit: SHOWN,
      offset: 0,
    });
    const trends = await rankings.trends(
      page.repositories.map((repository) => repository.id),
      "24h",
    );
    const rising = page.repositories.flatMap((repository) => {
      const trend = trends.get(repository.id);
      return trend === undefined ? [] : [{ repository, trend }];
    });
    return context.body(
      render(<Start summary={await rankings.summary()} synthetic={synthetic} rising={rising} />),
      200,
      HEADERS,
    );
  });
  app.get("/docs", (context) => {
    reference ??= render(<Docs document={document()} />);
    return context.body(reference, 200, HEADERS);
  });
  serveSignIn(app, members);
  serveIndexes(app, { source, baseUrl, clock });
  app.get(STYLES_PATH, (context) =>
    context.body(STYLES, 200, {
      "Content-Type": "text/css; charset=utf-8",
      "Cache-Control": "public, max-age=31536000, immutable",
    }),
  );
  return app;
}
