/** A repository as a search knows it. */
export interface Searchable {
  id: number;
  stars: number;
  /** Seconds since 1970. */
  created: number;
}

export interface Found {
  total: number;
  rows: Searchable[];
}

const ROWS = 100;
const REACHABLE_ROWS = 1000;

/** The repository search of GitHub: the qualifiers, the order, 100 rows a page and 1,000 in all. */
export function search(repositories: Iterable<Searchable>, query: string, page: number): Found {
  const words = query.split(" ");
  if (!words.includes("fork:true") || !words.includes("is:public"))
    throw new Error(`not all are meant: ${query}`);
  const isStars = within(
    words.find((word) => word.startsWith("stars:")),
    Number,
  );
  const isCreated = within(
    words.find((word) => word.startsWith("created:")),
    (text) => {
      if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) throw new Error(`no time: ${text}`);
      return Date.parse(text) / 1000;
    },
  );
  const found = [...repositories]
    .filter(({ stars, created }) => isStars(stars) && isCreated(created))
    .sort((a, b) => b.stars - a.stars || a.id - b.id);
  const to = Math.min(page * ROWS, REACHABLE_ROWS);
  return { total: found.length, rows: found.slice((page - 1) * ROWS, to) };
}

function within(word: string | undefined, read: (text: string) => number): (value: number) => boolean {
  if (word === undefined) return () => true;
  const text = word.slice(word.indexOf(":") + 1);
  const [low = "", high = ""] = text.split("..");
  if (text.startsWith(">=")) return (value) => value >= read(text.slice(2));
  if (text.startsWith("<=")) return (value) => value <= read(text.slice(2));
  const [from, to] = [read(low), read(high)];
  if (!(from <= to)) throw new Error(`no range: ${word}`);
  return (value) => value >= from && value <= to;
}
