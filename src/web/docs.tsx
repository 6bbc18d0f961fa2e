import { raw } from "hono/html";
import type { FC } from "hono/jsx";
import type { Pages } from "./page.js";

/** As much of an OpenAPI document as the reference shows. */
export interface ReferenceDocument {
  info: { title: string; version: string; description?: string };
  paths?: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, unknown> };
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  allOf?: Schema[];
  anyOf?: Schema[];
}

interface Operation {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> }>;
}

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** The reference; it is the same for all, and as long as the process lives. */
export function serveDocs(pages: Pages, document: () => ReferenceDocument): void {
  let reference: string | undefined;
  pages.get("/docs", () => {
    reference ??= String(<Docs document={document()} />);
    return {
      title: "API reference",
      description: "Every route of the API, its parameters and its answers.",
      body: raw(reference),
    };
  });
}

/** The reference for people, made from the contract that machines read. */
const Docs: FC<{ document: ReferenceDocument }> = ({ document }) => {
  const entries = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Entry => ({ method, path, operation: operation as Operation }),
    ),
  );
  const groups = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? "Other");
  return (
    <>
      <h1>API reference</h1>
      <p>{document.info.description}</p>
      <nav aria-label="Contents">
        <ul>
          {[...groups.keys()].map((tag) => (
            <li>
              <a href={`#${tag}`}>{tag}</a>
            </li>
          ))}
          <li>
            <a href="#records">Records</a>
          </li>
        </ul>
      </nav>
      {[...groups].map(([tag, group]) => (
        <section>
          <h2 id={tag}>{tag}</h2>
          {group.map((entry) => (
            <OperationView {...entry} />
          ))}
        </section>
      ))}
      <h2 id="records">Records</h2>
      {Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => (
        <details id={`record-${name}`}>
          <summary>{name}</summary>
          <SchemaView schema={schema as Schema} />
        </details>
      ))}
    </>
  );
};

const OperationView: FC<Entry> = ({ method, path, operation }) => (
  <details id={operation.operationId}>
    <summary>
      <span class="method">{method.toUpperCase()}</span>
      <code>{path}</code> <span class="soft">{operation.summary}</span>
    </summary>
    {operation.description === undefined ? null : <p>{operation.description}</p>}
    {(operation.parameters ?? []).length === 0 ? null : (
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Parameter</th>
              <th scope="col">In</th>
              <th scope="col">Values</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {(operation.parameters ?? []).map((parameter) => (
              <tr>
                <td>
                  <code>{parameter.name}</code>
                  {parameter.required ? " (required)" : ""}
                </td>
                <td>{parameter.in}</td>
                <td>
                  <TypeView schema={parameter.schema ?? {}} />
                </td>
                <td>{parameter.description ?? parameter.schema?.description ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
    {operation.requestBody === undefined ? null : (
      <>
        <h3>Body</h3>
        <SchemaView schema={Object.values(operation.requestBody.content ?? {})[0]?.schema ?? {}} />
      </>
    )}
    <h3>Answers</h3>
    <ul>
      {Object.entries(operation.responses).map(([status, response]) => (
        <li>
          <strong>{status}</strong> {response.description}
          {status.startsWith("2") ? (
            <SchemaView schema={Object.values(response.content ?? {})[0]?.schema ?? {}} />
          ) : null}
        </li>
      ))}
    </ul>
  </details>
);

const SchemaView: FC<{ schema: Schema }> = ({ schema }) => {
  const properties = propertiesOf(schema);
  if (properties.length === 0) return <TypeView schema={schema} />;
  return (
    <div class="scroll">
      <table>
        <tbody>
          {properties.map(([name, property]) => (
            <tr>
              <td>
                <code>{name}</code>
              </td>
              <td>
                <TypeView schema={property} />
                {property.description === undefined ? null : <div class="soft">{property.description}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

function propertiesOf(schema: Schema): [string, Schema][] {
  return [...(schema.allOf ?? []).flatMap(propertiesOf), ...Object.entries(schema.properties ?? {})];
}

const TypeView: FC<{ schema: Schema }> = ({ schema }) => {
  const reference =
    schema.$ref ??
    schema.allOf?.[0]?.$ref ??
    schema.items?.$ref ??
    schema.anyOf?.find((one) => one.$ref)?.$ref;
  if (reference !== undefined) {
    const name = reference.split("/").at(-1) ?? "";
    return (
      <span>
        {schema.items === undefined ? "" : "list of "}
        <a href={`#record-${name}`}>{name}</a>
        {schema.anyOf === undefined ? "" : " or null"}
      </span>
    );
  }
  const nested = schema.items === undefined ? propertiesOf(schema) : propertiesOf(schema.items);
  return (
    <span>
      {describeType(schema)}
      {nested.length === 0 ? null : (
        <span class="soft"> {`{ ${nested.map(([name]) => name).join(", ")} }`}</span>
      )}
    </span>
  );
};

/** A type in a few words: what it is, which values it takes, what it is without being given. */
function describeType(schema: Schema): string {
  const facts: string[] = [];
  if (schema.enum !== undefined) facts.push(schema.enum.filter((value) => value !== null).join(", "));
  else if (schema.const !== undefined) facts.push(String(schema.const));
  else if (schema.items !== undefined) facts.push(`list of ${describeType(schema.items)}`);
  else facts.push([schema.type ?? "any"].flat().join(" or "));
  const { minimum, maximum, minLength, maxLength } = schema;
  if (minimum !== undefined && maximum !== undefined && maximum < 1e15)
    facts.push(`${minimum} to ${maximum}`);
  if (maxLength !== undefined) facts.push(`${minLength ?? 0} to ${maxLength} characters`);
  if (schema.default !== undefined) facts.push(`default ${JSON.stringify(schema.default)}`);
  return facts.join("; ");
}
