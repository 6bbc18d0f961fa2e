import type { FunctionComponent as FC } from "preact";
import { Scroll } from "./elements.js";

/** The parts of the API reference: operations, and the schemas of records. */

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

/** The part of an OpenAPI operation that the reference shows. */
export interface Operation {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> }>;
  security?: Record<string, unknown>[];
  "x-rate-limit-bucket"?: string | { withQ: string; without: string };
}

/** An operation with its method and path. */
export interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** A method, as wide as the widest one, so that paths line up. */
export const Method: FC<{ name: string }> = ({ name }) => <span class="method">{name.toUpperCase()}</span>;

/** One operation, collapsed by default. Its anchor is the operation id. */
export const OperationView: FC<Entry> = ({ method, path, operation }) => {
  const { operationId, parameters = [], requestBody, responses } = operation;
  return (
    <details class="operation" id={operationId}>
      <summary>
        <Method name={method} /> <code>{path}</code> <span class="soft">{operation.summary}</span>
      </summary>
      {operation.description === undefined ? null : <p>{operation.description}</p>}
      <Conditions operation={operation} />
      {parameters.length === 0 ? null : <Parameters operationId={operationId} parameters={parameters} />}
      {requestBody === undefined ? null : (
        <>
          <h3>Body</h3>
          <SchemaView schema={schemaOf(requestBody.content)} label={`${operationId}: body`} />
        </>
      )}
      <h3>Responses</h3>
      <ul>
        {Object.entries(responses).map(([status, response]) => (
          <li>
            <strong>{status}</strong> {response.description}
            {status.startsWith("2") ? (
              <SchemaView schema={schemaOf(response.content)} label={`${operationId}: response ${status}`} />
            ) : null}
          </li>
        ))}
      </ul>
      <p class="small">
        <a href={`#${operationId}`}>Link to this operation</a>
      </p>
    </details>
  );
};

/** An example of a value, where the allowed values do not show it. */
const Example: FC<{ parameter: Parameter }> = ({ parameter: { example, schema } }) => {
  if (example === undefined || schema?.enum !== undefined || schema?.default !== undefined) return null;
  return (
    <div class="soft small">
      such as <code>{[example].flat().join(", ")}</code>
    </div>
  );
};

function schemaOf(content: Record<string, { schema?: Schema }> | undefined): Schema {
  return Object.values(content ?? {})[0]?.schema ?? {};
}

/** Authentication and rate limit bucket. */
const Conditions: FC<{ operation: Operation }> = ({ operation: { security = [], ...operation } }) => {
  const bucket = operation["x-rate-limit-bucket"];
  const schemes = [...new Set(security.flatMap((one) => Object.keys(one)))];
  const isOpen = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
  const facts = [
    schemes.length === 0 ? [] : [`${isOpen ? "Accepts" : "Requires"} ${schemes.join(" or ")}`],
    bucket === undefined
      ? []
      : [
          typeof bucket === "string"
            ? `counts in ${bucket}`
            : `counts in ${bucket.withQ} with q, otherwise in ${bucket.without}`,
        ],
  ].flat();
  return facts.length === 0 ? null : <p class="soft small">{facts.join("; ")}.</p>;
};

const Parameters: FC<{ operationId: string; parameters: readonly Parameter[] }> = ({
  operationId,
  parameters,
}) => (
  <Scroll label={`${operationId}: parameters`}>
    <table>
      <caption class="hidden">Parameters of {operationId}</caption>
      <thead>
        <tr>
          <th scope="col">Parameter</th>
          <th scope="col">In</th>
          <th scope="col">Values</th>
          <th scope="col">Description</th>
        </tr>
      </thead>
      <tbody>
        {parameters.map((parameter) => (
          <tr>
            <th scope="row">
              <code>{parameter.name}</code>
              {parameter.required ? " (required)" : ""}
            </th>
            <td>{parameter.in}</td>
            <td>
              <TypeView schema={parameter.schema ?? {}} />
              <Example parameter={parameter} />
            </td>
            <td>{parameter.description ?? parameter.schema?.description ?? ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

/** The part of a JSON schema that the reference shows. */
export interface Schema {
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

/** The fields of an object with their types, or the type in one line if it has none. `label` names the table. */
export const SchemaView: FC<{ schema: Schema; label: string }> = ({ schema, label }) => {
  const properties = propertiesOf(schema);
  if (properties.length === 0) return <TypeView schema={schema} />;
  return (
    <Scroll label={label}>
      <table class="fields">
        <caption class="hidden">{label}</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Values</th>
          </tr>
        </thead>
        <tbody>
          {properties.map(([name, property]) => (
            <tr>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>
                <TypeView schema={property} />
                {property.description === undefined ? null : <div class="soft">{property.description}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
};

function propertiesOf(schema: Schema): [string, Schema][] {
  return [...(schema.allOf ?? []).flatMap(propertiesOf), ...Object.entries(schema.properties ?? {})];
}

/** A type in one line. */
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

/** A type with its allowed values and its default. */
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
