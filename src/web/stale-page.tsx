import { Time } from "./components/numbers.js";

/** Where the content of every page begins. */
const CONTENT = /<main id="content"[^>]*>/;

/** A rendered page with a note that it may be outdated. `at`: when it was last known to be current. */
export function markStale(html: string, at: number): string {
  const note = (
    <p class="note" role="status">
      The database is not available at the moment. This page is from <Time at={at} />.
    </p>
  );
  return html.replace(CONTENT, (begin) => `${begin}${note}`);
}
