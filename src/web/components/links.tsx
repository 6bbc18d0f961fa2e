import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import { WINDOWS } from "../../growth/growth.js";
import type { Repository } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";
import { Link, leadsTo } from "./elements.js";
import { Dot, formatCompact, formatCount } from "./numbers.js";

/** Addresses with parameters, and links from a page to itself with others. The paths of pages are in page-addresses.ts. */

/** The address with some parameters changed; `undefined` removes one. Goes back to the first page. */
export function withQuery(
  { pathname, search, searchParams }: URL,
  changes: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  let query = "";
  for (const { name, text } of parametersOf(search, searchParams))
    if (name !== "page" && name !== "cursor" && !(name in changes)) query += `&${text}`;
  for (const name in changes) {
    const value = changes[name];
    if (typeof value === "string") query += `&${encode(name)}=${encode(value)}`;
    else for (const one of value ?? []) query += `&${encode(name)}=${encode(one)}`;
  }
  return query === "" ? pathname : `${pathname}?${query.slice(1)}`;
}

interface Parameter {
  name: string;
  /** Name and value, encoded. */
  text: string;
}

/** The parameters of the address that was read last: a page has a hundred links to itself with one of them changed. */
let latest: { search: string; parameters: readonly Parameter[] } = { search: "", parameters: [] };

function parametersOf(search: string, given: URLSearchParams): readonly Parameter[] {
  if (latest.search !== search) {
    const parameters = [...given].map(([name, value]) => ({
      name,
      text: `${encode(name)}=${encode(value)}`,
    }));
    latest = { search, parameters };
  }
  return latest.parameters;
}

/** As forms write it. */
function encode(text: string): string {
  return /^[\w*.-]*$/.test(text) ? text : new URLSearchParams([["", text]]).toString().slice(1);
}

/** The canonical address of a page: its parameters are sorted. */
export function canonicalAddress({ pathname, searchParams }: URL): string {
  const query = new URLSearchParams(searchParams);
  query.sort();
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

/** Path and query of an address. */
export function addressOf({ pathname, search }: URL): string {
  return pathname + search;
}

export interface Tab {
  name: string;
  href: string;
  isCurrent: boolean;
  /** The language whose dot it has. */
  language?: string;
}

interface TabsProps {
  label: string;
  /** `strip`: on several lines, for more links than a bar has room for. `chips`: for a choice that changes the whole page. */
  look?: "tabs" | "strip" | "chips";
}

/** Links with one selected; nothing if none leads anywhere. */
export const Tabs: FC<TabsProps & { tabs: readonly Tab[] }> = (
  { label, tabs, look = "tabs" },
  context: RenderContext,
) =>
  tabs.some(({ href }) => leadsTo(href, context)) ? (
    <nav class={look} aria-label={label}>
      {tabs.map((tab) => (
        <TabLink {...tab} look={look} />
      ))}
    </nav>
  ) : null;

/** One of several links, which may be the selected one. */
export const TabLink: FC<Tab & Pick<TabsProps, "look">> = ({ name, href, isCurrent, language, look }) => (
  <Link
    class={look === "chips" ? "chip" : undefined}
    href={href}
    aria-current={isCurrent ? "true" : undefined}
    isControl
  >
    {language === undefined ? null : <Dot name={language} />}
    {name}
  </Link>
);

interface OptionsProps extends TabsProps {
  url: URL;
  /** The parameter that the links set. */
  parameter: string;
  /** Its values, with their names. */
  words: Readonly<Record<string, string>>;
  current: string | undefined;
  /** Other parameters that the links set or remove. */
  also?: Parameters<typeof withQuery>[1];
  /** The id of the section that the links lead to. */
  section?: string;
}

/** The values of a parameter of the page as links. */
export const Options: FC<OptionsProps> = ({ url, parameter, words, current, also, section, ...props }) => (
  <Tabs
    {...props}
    tabs={Object.entries(words).map(([value, name]) => ({
      name,
      href: `${withQuery(url, { ...also, [parameter]: value })}${section === undefined ? "" : `#${section}`}`,
      isCurrent: value === current,
    }))}
  />
);

/** The names of values, from the facts about each. */
export function wordsOf<Of>(
  all: Readonly<Record<string, Of>>,
  word: (of: Of) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(all).map(([value, of]) => [value, word(of)]));
}

const WINDOW_NAMES = Object.fromEntries(WINDOWS.map((name) => [name, name]));

/** Links that change the window of the page. */
export const WindowTabs: FC<Pick<OptionsProps, "url" | "current" | "look">> = (props) => (
  <Options label="Window" parameter="window" words={WINDOW_NAMES} {...props} />
);

/** Links as tags; nothing without any. */
export const Tags: FC<{ label: string; tags: readonly (readonly [name: string, href: string])[] }> = ({
  label,
  tags,
}) =>
  tags.length === 0 ? null : (
    <ul class="tags" aria-label={label}>
      {tags.map(([name, href]) => (
        <li>
          <Link href={href}>
            <bdi>{name}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );

interface PagerProps {
  url: URL;
  /** null: the page was requested by cursor. */
  page: number | null;
  limit: number;
  total: number;
  hasMore: boolean;
  /** The cursor of the next page. */
  nextCursor: string | null;
}

/** Rows with numbered pages; beyond them, pages are read by cursor. */
const NUMBERED_ROWS = 10_000;

/** The message of a page after the last one. */
export const BeyondEnd: FC<{ url: URL }> = ({ url }) => (
  <p>
    There are no more results. <a href={withQuery(url, {})}>Back to the first page</a>
  </p>
);

/** Links to the previous and next page; nothing for a single page. */
export const Pager: FC<PagerProps> = ({ url, page, limit, total, hasMore, nextCursor }) => {
  if (page === 1 && !hasMore) return null;
  const pages = Math.ceil(total / limit);
  const isNumbered = page !== null && (page + 1) * limit <= NUMBERED_ROWS;
  const next = isNumbered
    ? withQuery(url, { page: String(page + 1) })
    : nextCursor === null
      ? undefined
      : withQuery(url, { cursor: nextCursor });
  const previous = page === 2 ? undefined : String((page ?? 0) - 1);
  return (
    <nav class="pager" aria-label="Pagination">
      {page === null ? (
        <a href={withQuery(url, {})}>First page</a>
      ) : page > 1 ? (
        <Link href={withQuery(url, { page: previous })} rel="prev" isControl>
          ← Previous
        </Link>
      ) : null}
      {page === null ? null : (
        <span class="soft">
          Page {formatCount(page)} of {formatCount(pages)}
        </span>
      )}
      {hasMore && next !== undefined ? (
        <Link href={next} rel="next" isControl>
          Next →
        </Link>
      ) : null}
    </nav>
  );
};

interface MeantProps {
  repository: Pick<Repository, "provider" | "fullName" | "stars">;
  href: string;
}

/** A repository that a name may mean, with the facts that tell it from others of that name. */
export const MeantRepository: FC<MeantProps> = ({ repository: { provider, fullName, stars }, href }) => (
  <>
    <a href={href}>
      <bdi>{fullName}</bdi>
    </a>{" "}
    <span class="soft small">
      {forgeName(provider)}, {formatCompact(stars)} stars
    </span>
  </>
);
