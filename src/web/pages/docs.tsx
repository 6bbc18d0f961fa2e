import { readFileSync } from "node:fs";
import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { type Bucket, CALLER_KINDS, type Limits } from "../../config/config.js";
import { AppError, ERROR_STATUS, type ErrorCode, errorAnchor } from "../../lib/errors.js";
import { packageFile } from "../../lib/package-files.js";
import { DOCS_PAGE } from "../../lib/page-addresses.js";
import { Contents } from "../components/elements.js";
import { formatCount } from "../components/numbers.js";
import { type Rendered, renderMarkdown } from "../markdown.js";
import type { Page, PageHandler } from "../page-request.js";

/** The guide: the documents of the package as pages. */

/** The slug is the address below /docs; empty: /docs itself. */
type Document = readonly [slug: string, file: string, title: string, description: string];

const DOCUMENTS: readonly Document[] = [
  ["", "docs/API.md", "HTTP API", "Every route with its parameters, and requests with their responses."],
  ["rankings", "docs/RANKINGS.md", "Rankings", "How growth is measured, and what ranks by it."],
  ["client", "client/README.md", "JavaScript client", "The typed client, with pages, retries and errors."],
  ["clients", "docs/CLIENTS.md", "Generators", "Generators of clients that work with the OpenAPI document."],
  ["mcp", "docs/MCP.md", "Language models", "The API as tools for language models (MCP)."],
  ["data", "docs/DATA.md", "Other tools", "The data in spreadsheets, databases and notebooks."],
  ["import", "docs/IMPORT.md", "Import and export", "Files that can be imported, and what is exported."],
  ["publish", "docs/PUBLISH.md", "Without a server", "Charts and pages as files."],
  ["configuration", "docs/CONFIGURATION.md", "Settings", "Every setting with its default."],
  [
    "operations",
    "docs/OPERATIONS.md",
    "Operations",
    "Running a service: installation, proxy, backups, upgrades.",
  ],
  ["public", "docs/PUBLIC.md", "Public instances", "What to decide before strangers use a service."],
  ["scale", "docs/SCALE.md", "Scale", "What one machine can carry."],
  [
    "security",
    "docs/SECURITY.md",
    "Security",
    "What is protected from whom, and what is stored about people.",
  ],
  ["glossary", "docs/GLOSSARY.md", "Glossary", "The words of this service."],
];

/** Those whose examples are for callers of this service, rather than for its operator. */
const FOR_CALLERS: ReadonlySet<string> = new Set(["", "rankings", "client", "clients", "mcp"]);

const titleOf = ([, , title]: Document): string => title;
const addressOf = ([slug]: Document): string => (slug === "" ? DOCS_PAGE : `${DOCS_PAGE}/${slug}`);

/** The addresses of all documents. */
export const DOCS_PAGES = DOCUMENTS.map(addressOf);

/** The target of a link in a document; undefined: a file that is not a page. */
function linkFrom(file: string, target: string): { href: string; title?: string } | undefined {
  if (/^(?:https?:|#)/.test(target)) return { href: target };
  const { pathname, hash } = new URL(target, new URL(file, "file:///"));
  const found = DOCUMENTS.find(([, one]) => `/${one}` === pathname);
  return found && { href: `${addressOf(found)}${hash}`, title: titleOf(found) };
}

const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

/** The documents, each rendered once per process. `limits`: the configured ones; undefined: there are none. */
export function docsPage(baseUrl: string, limits: Limits | undefined): PageHandler {
  const bodies = new Map<string, string>();
  return ({ http }): Page => {
    const { document: slug = "" } = http.params;
    const document = DOCUMENTS.find(([one]) => one === slug);
    if (document === undefined) throw new AppError("NOT_FOUND", "There is no such document.");
    const [, , title, description] = document;
    const body = bodies.get(slug) ?? renderToString(guideOf(document, read(document)));
    bodies.set(slug, body);
    return {
      title,
      showsAge: true,
      description,
      ...(slug === "" && { alternates: [{ type: "application/json", href: OPENAPI, title: "OpenAPI 3.1" }] }),
      body: <div class="beside docs" dangerouslySetInnerHTML={{ __html: body }} />,
    };
  };

  function read([slug, file]: Document): Rendered {
    const source = readFileSync(packageFile(file), "utf8");
    const text = FOR_CALLERS.has(slug) ? source.replaceAll(DEFAULT_BASE_URL, baseUrl) : source;
    return renderMarkdown(slug === "" ? withLimits(text, limits) : text, {
      link: (target) => linkFrom(file, target),
      rowId: (name) => ERROR_CODES.filter((code) => code === name && slug === "").map(errorAnchor)[0],
    });
  }
}

const OPENAPI = "/api/openapi.json";
const DEFAULT_BASE_URL = "http://127.0.0.1:3000";

/** The table of limits with those of this service. */
function withLimits(text: string, limits: Limits | undefined): string {
  return text.replaceAll(/^\| `(\w+)` \|(?:[ \d,]*\|){3}/gm, (_, name: Bucket) => {
    const own = limits?.[name];
    const cells = CALLER_KINDS.map((kind) => (own?.[kind] === undefined ? "" : formatCount(own[kind])));
    return `| \`${name}\` | ${limits === undefined ? "none here | |" : cells.join(" | ")} |`;
  });
}

const guideOf = (document: Document, { headings, body }: Rendered): JSX.Element => (
  <>
    <Contents>
      <ul>
        {DOCUMENTS.map((one) => (
          <li>
            <a href={addressOf(one)} aria-current={one === document ? "page" : undefined}>
              {titleOf(one)}
            </a>
          </li>
        ))}
        <li>
          <a href={OPENAPI}>OpenAPI 3.1 (JSON)</a>
        </li>
      </ul>
      <ul class="headings">
        {headings
          .filter(({ level }) => level < 4)
          .map(({ level, id, text }) => (
            <li class={level === 3 ? "deeper" : undefined}>
              <a href={`#${id}`}>{text.replaceAll("`", "").replace(/^([A-Z]+) \/api(?=\/)/, "$1 ")}</a>
            </li>
          ))}
      </ul>
    </Contents>
    <article>{body}</article>
  </>
);
