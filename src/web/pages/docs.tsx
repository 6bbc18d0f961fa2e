import type { FunctionComponent as FC } from "preact";
import { renderToString } from "preact-render-to-string";
import { BUCKETS, CALLER_KINDS, type Limits } from "../../config/config.js";
import { ERROR_MEANINGS, ERROR_STATUS, type ErrorCode, errorAnchor } from "../../lib/errors.js";
import { Command, Contents, Scroll } from "../components/elements.js";
import { formatCount } from "../components/numbers.js";
import {
  type Entry,
  Method,
  type Operation,
  OperationView,
  type Schema,
  SchemaView,
} from "../components/reference.js";
import type { Page } from "../page-request.js";

/** The part of an OpenAPI document that the reference shows. */
export interface ReferenceDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  security?: Record<string, unknown>[];
  paths?: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, unknown>; [kind: string]: Record<string, unknown> | undefined };
}

/** The API reference, rendered once per process. */
export function docsPage(document: () => ReferenceDocument, limits: Limits | undefined): () => Page {
  let reference: string | undefined;
  return () => {
    reference ??= renderToString(<Docs document={document()} limits={limits} />);
    return {
      title: "API reference",
      showsAge: true,
      description: "Every API route with its parameters and responses.",
      scripts: ["docs.js"],
      alternates: [{ type: "application/json", href: DOCUMENT, title: "OpenAPI 3.1" }],
      body: <div class="beside" dangerouslySetInnerHTML={{ __html: reference }} />,
    };
  };
}

const DOCUMENT = "/api/openapi.json";

/** The API reference, generated from the OpenAPI document. */
const Docs: FC<{ document: ReferenceDocument; limits: Limits | undefined }> = ({ document, limits }) => {
  const entries = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Entry => ({
        method,
        path,
        operation: resolved(document, operation as Operation),
      }),
    ),
  );
  const groups = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? "Other");
  return (
    <>
      <ReferenceContents groups={groups} />
      <div>
        <h1>API reference</h1>
        <p class="read">{document.info.description}</p>
        <Begin base={document.servers?.[0]?.url ?? ""} />
        <LimitTable limits={limits} />
        <ErrorTable />
        {[...groups].map(([tag, group]) => (
          <section>
            <h2 id={anchorOf(tag)}>{tag}</h2>
            {group.map((entry) => (
              <OperationView {...entry} />
            ))}
          </section>
        ))}
        <h2 id="records">Schemas</h2>
        {Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => (
          <details class="operation" id={`record-${name}`}>
            <summary>
              <code>{name}</code>
            </summary>
            <SchemaView schema={schema as Schema} label={name} />
          </details>
        ))}
      </div>
    </>
  );
};

/** An operation with its parameters and responses instead of references to them. */
function resolved(document: ReferenceDocument, operation: Operation): Operation {
  const find = <T,>(part: T): T => {
    const reference = (part as { $ref?: string }).$ref;
    if (reference === undefined) return part;
    const [kind = "", name = ""] = reference.split("/").slice(2);
    return document.components?.[kind]?.[name] as T;
  };
  const responses = Object.entries(operation.responses).map(([status, one]) => [status, find(one)]);
  return {
    ...(document.security && { security: document.security }),
    ...operation,
    ...(operation.parameters && { parameters: operation.parameters.map(find) }),
    responses: Object.fromEntries(responses),
  };
}

/** The anchor of a heading. */
function anchorOf(tag: string): string {
  return tag.replaceAll(/[^A-Za-z0-9]+/g, "-");
}

const ReferenceContents: FC<{ groups: ReadonlyMap<string, readonly Entry[]> }> = ({ groups }) => (
  <Contents>
    <ul>
      <li>
        <a href="#begin">Getting started</a>
      </li>
      <li>
        <a href="#limits">Rate limits</a>
      </li>
      <li>
        <a href="#errors">Errors</a>
      </li>
      {[...groups].map(([tag, group]) => (
        <li>
          <a href={`#${anchorOf(tag)}`}>{tag}</a>
          <ul>
            {group.map(({ method, path, operation }) => (
              <li>
                <a href={`#${operation.operationId}`}>
                  <Method name={method} /> {path.replace(/^\/api/, "")}
                </a>
              </li>
            ))}
          </ul>
        </li>
      ))}
      <li>
        <a href="#records">Schemas</a>
      </li>
      <li>
        <a href={DOCUMENT}>OpenAPI 3.1 (JSON)</a>
      </li>
    </ul>
  </Contents>
);

const Begin: FC<{ base: string }> = ({ base }) => (
  <section>
    <h2 id="begin">Getting started</h2>
    <p class="read">Public data needs no key. This lists the repositories trending over 7 days:</p>
    <Command text={`curl '${base}/api/trending?window=7d&limit=5'`} />
    <p class="read">
      A key raises your limits. <a href="/account/keys">Create one in your account</a> and send it in either
      header:
    </p>
    <Command
      text={`curl -H 'X-API-Key: sid_…' '${base}/api/repos?language=Rust&minStars=1000'\ncurl -H 'Authorization: Bearer sid_…' '${base}/api/repos?q=parser'`}
    />
    <p class="read">
      To read a whole list, pass <code>meta.nextCursor</code> of each page as <code>cursor</code> of the next
      request. Send the <code>ETag</code> of a response as <code>If-None-Match</code>: if nothing has changed,
      the response is a 304 and does not count against your limit. The machine-readable contract is the{" "}
      <a href={DOCUMENT}>OpenAPI document</a>.
    </p>
  </section>
);

/** Every code with its description. Problem details link to its entry. */
const ErrorTable: FC = () => (
  <section>
    <h2 id="errors">Errors</h2>
    <p class="read">
      Every error has one of these codes. With <code>Accept: application/problem+json</code> an error is a
      problem as in RFC 9457, whose <code>type</code> is the address of its entry here.
    </p>
    <dl class="codes">
      {(Object.keys(ERROR_STATUS) as ErrorCode[]).map((code) => (
        <div id={errorAnchor(code)}>
          <dt>
            <code>{code}</code> <span class="soft small">{ERROR_STATUS[code]}</span>
          </dt>
          <dd>{ERROR_MEANINGS[code]}</dd>
        </div>
      ))}
    </dl>
  </section>
);

const KIND_NAMES = { anonymous: "Without a key", signed_in: "Signed in", key: "With a key" } as const;

const LimitTable: FC<{ limits: Limits | undefined }> = ({ limits }) => (
  <section>
    <h2 id="limits">Rate limits</h2>
    {limits === undefined ? (
      <p>Rate limits are turned off on this server.</p>
    ) : (
      <>
        <p class="read">
          Units per minute; most requests cost one. You may use them in one burst; the allowance refills at a
          constant rate. The headers of every response report what remains, and so does{" "}
          <a href="/api/limits">/api/limits</a>, which costs nothing.
        </p>
        <Scroll label="Units per minute">
          <table class="tight">
            <caption class="hidden">Units per minute, by bucket and kind of caller</caption>
            <thead>
              <tr>
                <th scope="col">Bucket</th>
                {CALLER_KINDS.map((kind) => (
                  <th scope="col" class="number">
                    {KIND_NAMES[kind]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {BUCKETS.map((bucket) => (
                <tr>
                  <th scope="row">
                    <code>{bucket}</code>
                  </th>
                  {CALLER_KINDS.map((kind) => (
                    <td class="number">{formatCount(limits[bucket][kind] ?? null)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </>
    )}
  </section>
);
