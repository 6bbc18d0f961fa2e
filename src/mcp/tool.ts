/** Tools: how they are declared, and how a call reads its arguments and does the work of an operation of the API. */
import { type ApiServices, type Operation, routeOf } from "../api/api.js";
import type { ChargedAs, Surcharge } from "../http/http.js";
import { invalidParameter } from "../lib/errors.js";
import { didYouMean } from "../lib/nearest-name.js";
import { z } from "../lib/schema.js";
import { validationError } from "../lib/validation.js";
import type { Adding } from "../watchlists/watchlists.js";

export interface ToolContext {
  services: Pick<ApiServices, "modules" | "config" | "clock">;
  chargedAs: ChargedAs;
  /** Who adds to watchlists, for the daily quota; undefined without one. */
  adding: Adding | undefined;
}

interface ToolResult<T> {
  data: T;
  /** The cost of the call, if its operation knows it only after the work. */
  units?: number;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** Its arguments, by the rules of the API's parameters. */
  args: z.ZodObject;
  output: z.ZodObject;
  /** Whether the fields of its output have descriptions; false if another tool with the same output has them. */
  isOutputDescribed: boolean;
  isWrite: boolean;
  /** Does its work at the price of its operation. Throws VALIDATION_FAILED for wrong arguments, and RATE_LIMITED. */
  call: (given: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<ToolResult<unknown>>;
}

interface Declared<A extends z.ZodObject, O extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  args: A;
  output: O;
  isOutputDescribed?: false;
  isWrite?: true;
  operation: Operation | ((args: z.output<A>) => Operation);
  /** The cost of a call on top of its operation. */
  surcharge?: Surcharge;
  /** `query`: the arguments as they were given. */
  run: (args: z.output<A>, context: ToolContext, query: URLSearchParams) => Promise<ToolResult<z.output<O>>>;
}

/** Declares a tool; the compiler checks its result against its output schema. */
export function tool<A extends z.ZodObject, O extends z.ZodObject>(declared: Declared<A, O>): Tool {
  const { operation, surcharge, run, ...rest } = declared;
  return {
    isWrite: false,
    isOutputDescribed: true,
    ...rest,
    call: (given, context) => {
      const values = textsOf(given, Object.keys(declared.args.shape));
      const parsed = declared.args.safeParse(values);
      if (!parsed.success) throw validationError(parsed.error, "arguments");
      const args = parsed.data;
      const query = new URLSearchParams(
        Object.entries(values).flatMap(([name, value]) =>
          [value].flat().map((one) => [name === "repositories" ? "repo" : name, one]),
        ),
      );
      const route = routeOf(typeof operation === "function" ? operation(args) : operation);
      const limit = surcharge === undefined ? route.limit : { ...route.limit, surcharges: [surcharge] };
      return context.chargedAs({ route: { ...route, limit }, query }, () => run(args, context, query));
    },
  };
}

const argumentSchema = z.union([z.string(), z.number(), z.boolean()]);

/** The arguments of a call as texts, or lists of them. Throws VALIDATION_FAILED for unknown names and values of no known type. */
function textsOf(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(given)) {
    // Models often send null for absent arguments.
    if (value === null || value === undefined) continue;
    const short = name.slice(0, 100);
    if (!known.includes(name)) {
      const hint = didYouMean(short, known);
      throw invalidParameter(short, `is not an argument${hint}; this tool takes ${known.join(", ")}`);
    }
    const parsed = z.union([argumentSchema, z.array(argumentSchema)]).safeParse(value);
    if (!parsed.success)
      throw invalidParameter(name, "must be a text, a number, true or false, or a list of texts");
    const text = (one: z.output<typeof argumentSchema>) => String(one).toWellFormed();
    values[name] = Array.isArray(parsed.data) ? parsed.data.map(text) : text(parsed.data);
  }
  return values;
}
