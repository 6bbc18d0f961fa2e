import type { ComponentChildren as Child, FunctionComponent as FC, JSX } from "preact";
import { forgeName } from "../../config/config.js";
import { WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { languagePage, repositoryPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";
import { Dot, formatCompact, formatCount } from "./numbers.js";

/** Elements that many pages have, with the classes that the style sheet knows, and links from a page to itself with other parameters. */

type LinkProps = JSX.AnchorHTMLAttributes & {
  href: string;
  /** Whether it is an entry of a menu, or does something: without an address it goes. */
  isControl?: boolean;
};

/** A link to a page. Of one to a page that a site leaves out, the text stays. */
export const Link: FC<LinkProps> = (
  { isControl = false, children, ...attributes },
  context: RenderContext,
) => {
  if (leadsTo(attributes.href, context)) return <a {...attributes}>{children}</a>;
  return isControl ? null : <span class={attributes.class}>{children}</span>;
};

export function leadsTo(href: string, { isPublished }: RenderContext): boolean {
  return isPublished === undefined || !href.startsWith("/") || isPublished(href);
}

interface NameLinkProps {
  repository: Pick<Repository, "provider" | "owner" | "name" | "fullName">;
  /** The window of the page, which that of the repository shows too. */
  window?: Window;
}

/** A link to the page of a repository: its name in bold after its owner, which gives way first. A hidden one has neither. */
export const NameLink: FC<NameLinkProps> = ({ repository, window }) =>
  repository.fullName === "" ? (
    <span class="soft">A repository without a name</span>
  ) : (
    <a href={repositoryPage(repository) + (window === undefined ? "" : `?window=${window}`)}>
      <span class="owner">{repository.owner}/</span>
      <span class="title">{repository.name}</span>
    </a>
  );

/** A link to the page of a language, with its colour. */
export const Language: FC<{ name: string | null }> = ({ name }) =>
  name === null ? null : (
    <span class="language">
      <Dot name={name} />
      <Link href={languagePage(name)}>{name}</Link>
    </span>
  );

/** Links in a row, such as those to other formats; nothing without any. */
export const Ways: FC<{ lead?: string; links: readonly (readonly [name: string, href: string])[] }> = (
  { lead, links },
  context: RenderContext,
) => {
  const shown = links.filter(([, href]) => leadsTo(href, context));
  return shown.length === 0 ? null : (
    <p class="soft small ways">
      {lead}
      {shown.map(([name, href], i) => (
        <>
          {i === 0 ? "" : " · "}
          <a href={href}>{name}</a>
        </>
      ))}
    </p>
  );
};

/** Wide content that scrolls horizontally on narrow screens, by keyboard too. */
export const Scroll: FC<{ label: string; children: Child }> = ({ label, children }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    {children}
  </section>
);

/** A table of contents, closed if it would be above the text; next to it, it scrolls by keyboard too. */
export const Contents: FC<{ children: Child }> = ({ children }) => (
  <nav class="contents" tabindex={0} aria-label="Contents">
    <details>
      <summary>Contents</summary>
      {children}
    </details>
  </nav>
);

export interface Fact {
  name: string;
  value: Child;
  /** A note on the value. */
  more?: string;
  /** Whether the value is words rather than a number. */
  isText?: boolean;
}

/** Key numbers, each below its name. */
export const Facts: FC<{ facts: readonly Fact[] }> = ({ facts }) => (
  <dl class="facts">
    {facts.map(({ name, value, more, isText = false }) => (
      <div>
        <dt>{name}</dt>
        <dd class={isText ? "words" : undefined}>
          {value}
          {more ? <small class="soft">{more}</small> : null}
        </dd>
      </div>
    ))}
  </dl>
);

/** A note set apart from the content; `action`: a form after it. */
export const Note: FC<{ children: Child; action?: Child }> = ({ children, action }) => (
  <div class={action === undefined ? "note" : "note apart"} role="note">
    <p>{children}</p>
    {action}
  </div>
);

/** The outcome of the last action, which screen readers announce. `isDone`: it has succeeded; otherwise it needs attention. */
export const Notice: FC<{ isDone: boolean; children: Child }> = ({ isDone, children }) => (
  <div class={isDone ? "note done" : "note"} role="status">
    <p>{children}</p>
  </div>
);

/** A shell command. Long lines scroll, by keyboard too. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);

/** Text to copy. The button needs the script copy.js. */
export const Snippet: FC<{ id: string; label: string; text: string }> = ({ id, label, text }) => (
  <div class="snippet">
    <div class="apart">
      <span class="soft small" id={`${id}-label`}>
        {label}
      </span>
      <button type="button" class="plain scripted" data-copy={id} aria-describedby={`${id}-label`}>
        Copy
      </button>
    </div>
    <pre id={id}>
      <code>{text}</code>
    </pre>
  </div>
);

/** The button that sends its form. */
export const MainButton: FC<{ children: Child }> = ({ children }) => (
  <button type="submit" class="press">
    {children}
  </button>
);

/** A form of nothing but its button. */
export const ActionButton: FC<{ action: string; children: Child }> = ({ action, children }) => (
  <form method="post" action={action}>
    <button type="submit">{children}</button>
  </form>
);

interface ConfirmProps {
  /** The action of the button, such as "Remove", and its object. */
  verb: string;
  name: string;
  /** The path that the form is sent to. */
  action: string;
  /** The effect, in a sentence or two. */
  children: Child;
}

/** A button that first names its effect, for actions that cannot be undone. */
export const Confirm: FC<ConfirmProps> = ({ verb, name, action, children }) => (
  <details class="confirm">
    <summary aria-label={`${verb} ${name}`}>{verb}</summary>
    <form method="post" action={action}>
      <p>{children}</p>
      <button type="submit" class="danger">
        {verb} <bdi>{name}</bdi>
      </button>
    </form>
  </details>
);

interface FieldProps {
  /** Its name in the form, and its id unless another one is given. */
  name: string;
  id?: string;
  label: Child;
  /** Why the submitted value is invalid; undefined if it is not. */
  problem: string | undefined;
  value?: string | undefined;
  /** `password`: hidden while it is typed, and never filled in by us. */
  type?: "date" | "email" | "password";
  required?: boolean;
  maxlength?: number;
  autocomplete?: "email" | "one-time-code" | "off";
  /** The keyboard that phones show. */
  inputmode?: "numeric";
  placeholder?: string;
  /** Turns off spell checking and capitalisation, for identifiers. */
  isLiteral?: boolean;
  /** Whether it names repositories. */
  isRepository?: boolean;
}

/** Characters of a submitted text that are shown again. */
const MAX_SHOWN = 20_000;

/** The one field for repositories, which takes several and any of their addresses; the script field.js suggests some. */
export const RepositoryField: FC<
  Pick<FieldProps, "name" | "id" | "label" | "value" | "maxlength" | "placeholder"> & {
    problem?: string | undefined;
    required?: boolean;
  }
> = ({ value = "", problem, ...field }) => (
  <Field
    {...field}
    problem={problem}
    value={value.slice(0, field.maxlength ?? MAX_SHOWN)}
    placeholder={field.placeholder ?? "owner/name, or any address; several too"}
    isLiteral
    isRepository
  />
);

/** A field of a form with its label above and its problem below, which screen readers announce with it. */
export const Field: FC<FieldProps> = ({
  name,
  id = name,
  label,
  problem,
  value = "",
  type,
  required = false,
  maxlength,
  autocomplete = "off",
  inputmode,
  placeholder,
  isLiteral = false,
  isRepository = false,
}) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type={type}
      name={name}
      required={required}
      maxlength={maxlength}
      autocomplete={autocomplete}
      inputmode={inputmode}
      autocapitalize={isLiteral ? "none" : undefined}
      spellcheck={isLiteral ? false : undefined}
      placeholder={placeholder}
      data-repositories={isRepository ? "" : undefined}
      value={value}
      aria-invalid={problem === undefined ? undefined : "true"}
      aria-describedby={problem === undefined ? undefined : `${id}-problem`}
    />
    {problem === undefined ? null : (
      <p class="wrong" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    )}
  </div>
);

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
  /** `strip`: on several lines, for more links than a bar has room for. `menu`: folded. */
  look?: "tabs" | "strip" | "menu";
}

/** Links with one selected; nothing if none leads anywhere. */
export const Tabs: FC<TabsProps & { tabs: readonly Tab[] }> = (
  { label, tabs, look = "tabs" },
  context: RenderContext,
) => {
  if (!tabs.some(({ href }) => leadsTo(href, context))) return null;
  const links = tabs.map((tab) => <TabLink {...tab} />);
  return look === "menu" ? (
    <details class="menu" data-menu="">
      <summary class="button">
        <span class="hidden">{label}: </span>
        {tabs.find(({ isCurrent }) => isCurrent)?.name ?? label}
      </summary>
      <div>{links}</div>
    </details>
  ) : (
    <nav class={look} aria-label={label}>
      {links}
    </nav>
  );
};

/** One of several links, which may be the selected one. */
export const TabLink: FC<Tab> = ({ name, href, isCurrent, language }) => (
  <Link href={href} aria-current={isCurrent ? "true" : undefined} isControl>
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

interface WindowTabsProps extends Pick<OptionsProps, "url" | "current" | "look"> {
  /** Default: all. */
  windows?: readonly Window[];
}

/** Links that change the window of the page. */
export const WindowTabs: FC<WindowTabsProps> = ({ windows = WINDOWS, ...props }) => (
  <Options
    label="Window"
    parameter="window"
    words={Object.fromEntries(windows.map((name) => [name, WINDOW_LABELS[name]]))}
    {...props}
  />
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
