/** Tools: how they are declared, how their arguments are read, and how they use the API. */
import { inputSchemas, type JsonSchema } from "../api/api.js";
import type { Ask, InnerReply, InnerRequest } from "../http/http.js";
import { invalidParameter } from "../lib/errors.js";
import { didYouMean } from "../lib/nearest-name.js";
import { z } from "../lib/schema.js";

/** The schemas of some parameters of an operation. Throws if it does not take one, as after a change of its name. */
export function pickInput(operationId: string, names: readonly string[]): Record<string, JsonSchema> {
  const schemas = inputSchemas(operationId);
  return Object.fromEntries(
    names.map((name) => {
      const schema = schemas[name];
      if (schema === undefined) throw new Error(`${operationId} does not take ${name}`);
      return [name, schema];
    }),
  );
}

export interface ToolContext {
  ask: Ask;
  /** Public address of the service, for links. */
  baseUrl: string;
}

/** A result for programs, and the same for models and people to read. */
export interface ToolResult<T> {
  data: T;
  text: string;
}

/** The value of an argument, as JSON Schemas of the API allow it. */
export type Argument = string | number | boolean | readonly (string | number)[];
export type Arguments = Readonly<Record<string, Argument>>;

/** A tool over the API. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** Its arguments by name. The API checks the values. */
  input: Readonly<Record<string, JsonSchema>>;
  required: readonly string[];
  output: z.ZodObject;
  /** Whether the fields of its output have descriptions; false where another tool with the same output has them. */
  isOutputDescribed: boolean;
  /** Whether it changes something. */
  isWrite: boolean;
  run: (args: Arguments, context: ToolContext) => Promise<ToolResult<unknown>>;
}

/** Declares a tool; the compiler checks its result against its output schema. */
export function tool<O extends z.ZodObject>(
  declared: Omit<Tool, "output" | "run" | "isOutputDescribed" | "isWrite" | "required"> & {
    output: O;
    isOutputDescribed?: false;
    required?: readonly string[];
    isWrite?: true;
    run: (args: Arguments, context: ToolContext) => Promise<ToolResult<z.output<O>>>;
  },
): Tool {
  return { isWrite: false, isOutputDescribed: true, required: [], ...declared };
}

const argumentSchema = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([z.string(), z.number()])),
]);

/** The arguments of a call. Throws VALIDATION_FAILED for unknown names, missing ones and values of no known type. */
export function readArguments(
  { input, required }: Tool,
  given: Readonly<Record<string, unknown>>,
): Arguments {
  const args: Record<string, Argument> = {};
  for (const [name, value] of Object.entries(given)) {
    // Models often send null for what they leave out.
    if (value === null || value === undefined) continue;
    if (!Object.hasOwn(input, name)) {
      const known = Object.keys(input);
      const short = name.slice(0, 100);
      throw invalidParameter(
        short,
        `is not an argument${didYouMean(short, known)}; this tool takes ${known.join(", ")}`,
      );
    }
    const parsed = argumentSchema.safeParse(value);
    if (!parsed.success)
      throw invalidParameter(name, "must be a text, a number, true or false, or a list of texts");
    checkMaximum(name, input[name], parsed.data);
    args[name] = parsed.data;
  }
  for (const name of required) if (args[name] === undefined) throw invalidParameter(name, "is required");
  return args;
}

/** Tools return fewer rows than the API would. */
function checkMaximum(name: string, schema: JsonSchema | undefined, value: Argument): void {
  const { minimum, maximum, type } = schema ?? {};
  if (type !== "integer" || typeof minimum !== "number" || typeof maximum !== "number") return;
  const number = Number(value);
  if (!Number.isInteger(number) || number < minimum || number > maximum)
    throw invalidParameter(name, `must be a whole number from ${minimum} to ${maximum}`);
}

/** Arguments as a query. A list repeats its parameter. */
export function queryOfArguments(args: Arguments): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one).toWellFormed());
  return query;
}

/** An error response of the API. */
export class ApiFailure extends Error {
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The body of a success, checked by a schema. Throws ApiFailure for an error. Follows one redirect of a GET. */
export async function askFor<S extends z.ZodType>(
  ask: Ask,
  request: InnerRequest,
  schema: S,
): Promise<z.output<S>> {
  let reply = await ask(request);
  if (reply.status === 301 && reply.location !== undefined && request.method === "GET")
    reply = await ask({ method: "GET", url: reply.location });
  if (reply.status >= 300) throw failureOf(reply);
  const parsed = schema.safeParse(parseJson(reply.body));
  if (!parsed.success) throw new ApiFailure("INTERNAL", "The response of the API was not understood.");
  return parsed.data;
}

function failureOf({ status, body, retryAfterSeconds }: InnerReply): ApiFailure {
  const parsed = failureSchema.safeParse(parseJson(body));
  const { code, message } = parsed.success
    ? parsed.data.error
    : { code: `HTTP_${status}`, message: `The service responded with status ${status}.` };
  return new ApiFailure(code, message, retryAfterSeconds);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How tools name a repository. */
export const referenceSchema: JsonSchema = {
  type: "string",
  maxLength: 440,
  pattern: "^[^:]+:.+/[^/]+$",
  description:
    "provider:owner/name, such as github:facebook/react, in any case; previous names work too. Search first if you do not know it.",
};

/** The address of a repository in the API. Throws VALIDATION_FAILED for an argument of another form. */
export function detailUrl(argument: Argument | undefined): string {
  const text = String(argument).toWellFormed();
  const colon = text.indexOf(":");
  if (colon < 1 || !text.includes("/", colon) || text.length > 440)
    throw invalidParameter("repository", "must be of the form provider:owner/name");
  const query = new URLSearchParams({ fullName: text.slice(colon + 1) });
  return `/api/repos/${encodeURIComponent(text.slice(0, colon))}/by-full-name?${query}`;
}
