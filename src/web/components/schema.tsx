import type { FC } from "hono/jsx";
import { Scroll } from "./scroll.js";

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
export const TypeView: FC<{ schema: Schema }> = ({ schema }) => {
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
