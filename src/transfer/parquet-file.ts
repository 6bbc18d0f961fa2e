import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

type WriterOptions = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = WriterOptions["schema"][number];
type Source = Parameters<ParquetWriter["write"]>[0]["columnData"][number];

/**
 * The columns of a file by name. `integer` is INT64, `time` a timestamp in ms UTC, `texts` a list of strings, and `names` a list of names
 * with the time until which each was used; `?`: null where unknown. The value of `full_name` is `fullName` of a row.
 */
type Columns = Readonly<Record<string, Kind | `${Scalar}?`>>;
type Scalar = "integer" | "time" | "text" | "flag";
type Kind = Scalar | "texts" | "names";

/** A row, by the names of its columns in camel case. */
type Row = Readonly<Record<string, unknown>>;

interface Column {
  name: string;
  field: string;
  kind: Kind;
  isNullable: boolean;
}

interface WrittenFile {
  bytes: number;
  rows: number;
  /** In hex. */
  sha256: string;
}

/** Rough length of an element of a list. */
const ELEMENT_CHARACTERS = 40;

/**
 * A Parquet file that is written row group by row group. Memory is that of the rows that wait, and of the list of row groups. No file
 * stays open between two of them, so a process may write any number of files alternately.
 */
export class ParquetFile {
  readonly #path: string;
  readonly #columns: readonly Column[];
  readonly #hash = createHash("sha256");
  readonly #buffer = new ByteWriter();
  readonly #writer: ParquetWriter;
  #values: unknown[][];
  #rows = 0;
  #isNew = true;
  /** Rows that are not written yet, and roughly the length of their texts. */
  waiting = 0;
  characters = 0;

  /** `path` must not exist. */
  constructor(path: string, columns: Columns, metadata: Readonly<Record<string, string>>) {
    this.#path = path;
    this.#columns = Object.entries(columns).map(([name, kind]) => ({
      name,
      field: name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      kind: kind.replace("?", "") as Kind,
      isNullable: kind.endsWith("?"),
    }));
    this.#values = this.#columns.map(() => []);
    this.#writer = new ParquetWriter({
      writer: this.#buffer,
      schema: [{ name: "schema", num_children: this.#columns.length }, ...this.#columns.flatMap(elementsOf)],
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
      createdBy: "Sidereal",
    });
  }

  add(row: Row): void {
    for (const [i, { field }] of this.#columns.entries()) {
      const value = row[field];
      this.#values[i]?.push(value);
      if (typeof value === "string") this.characters += value.length;
      else if (Array.isArray(value)) this.characters += ELEMENT_CHARACTERS * value.length;
    }
    this.waiting++;
  }

  /** Writes the waiting rows as a row group. No row may be added before it resolves. */
  async flush(): Promise<void> {
    if (this.waiting === 0) return;
    this.#writer.write({
      columnData: this.#columns.map(
        ({ name, kind }, i): Source => ({
          name,
          data: this.#values[i] ?? [],
          offsetIndex: false,
          // A fraction of the size and time of the default: neighbouring rows are of the same repository.
          ...(kind === "integer" || kind === "time" ? { encoding: "DELTA_BINARY_PACKED" as const } : {}),
        }),
      ),
      rowGroupSize: this.waiting,
    });
    this.#rows += this.waiting;
    this.#values = this.#columns.map(() => []);
    this.waiting = 0;
    this.characters = 0;
    await this.#append();
  }

  /** Writes the rest and the end of the file. Resolves when it is on the disk. */
  async finish(): Promise<WrittenFile> {
    await this.flush();
    this.#writer.finish();
    await this.#append({ syncs: true });
    return { bytes: this.#buffer.offset, rows: this.#rows, sha256: this.#hash.digest("hex") };
  }

  async #append({ syncs = false } = {}): Promise<void> {
    const bytes = this.#buffer.getBytes();
    this.#hash.update(bytes);
    // Never creates a file that another process has removed, as the mode `a` would.
    const file = await open(this.#path, this.#isNew ? "ax" : constants.O_WRONLY | constants.O_APPEND, 0o600);
    this.#isNew = false;
    try {
      await file.writeFile(bytes);
      if (syncs) await file.sync();
    } finally {
      await file.close();
    }
    // Only bytes that are not written yet stay in memory.
    this.#buffer.index = 0;
    this.#buffer.buffer = new ArrayBuffer(1_024);
    this.#buffer.view = new DataView(this.#buffer.buffer);
  }
}

const TEXT = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } } as const;
const TIME = {
  type: "INT64",
  converted_type: "TIMESTAMP_MILLIS",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
} as const;
const TYPES = { integer: { type: "INT64" }, time: TIME, text: TEXT, flag: { type: "BOOLEAN" } } as const;

/** The schema of a column; a list has three levels, as the format prescribes. */
function elementsOf({ name, kind, isNullable }: Column): SchemaElement[] {
  if (kind !== "texts" && kind !== "names")
    return [{ name, ...TYPES[kind], repetition_type: isNullable ? "OPTIONAL" : "REQUIRED" }];
  const required = { repetition_type: "REQUIRED" } as const;
  const element: SchemaElement[] =
    kind === "texts"
      ? [{ name: "element", ...TEXT, ...required }]
      : [
          { name: "element", ...required, num_children: 2 },
          { name: "full_name", ...TEXT, ...required },
          { name: "until", ...TIME, ...required },
        ];
  return [
    { name, converted_type: "LIST", logical_type: { type: "LIST" }, ...required, num_children: 1 },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    ...element,
  ];
}
