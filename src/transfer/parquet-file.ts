import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

type WriterOptions = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = WriterOptions["schema"][number];
type Source = Parameters<ParquetWriter["write"]>[0]["columnData"][number];

/**
 * A column: `integer` is INT64, `time` a timestamp in ms UTC, `texts` a list of strings, and `names` a list of names with the
 * time until which each was used. A list is never null.
 */
export interface Column {
  name: string;
  kind: "integer" | "time" | "text" | "flag" | "texts" | "names";
  isNullable?: true;
}

/** A finished file. */
export interface WrittenFile {
  bytes: number;
  rows: number;
  /** In hex. */
  sha256: string;
}

/**
 * A Parquet file that is written row group by row group. Memory is that of one row group, and of the list of row groups. No file
 * stays open between two of them, so a process may write any number of files alternately.
 */
export class ParquetFile {
  readonly #path: string;
  readonly #columns: readonly Column[];
  readonly #hash = createHash("sha256");
  readonly #buffer = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows = 0;
  #isNew = true;

  /** `path` must not exist. */
  constructor(path: string, columns: readonly Column[], metadata: Readonly<Record<string, string>>) {
    this.#path = path;
    this.#columns = columns;
    this.#writer = new ParquetWriter({
      writer: this.#buffer,
      schema: [{ name: "schema", num_children: columns.length }, ...columns.flatMap(elementsOf)],
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
      createdBy: "Sidereal",
    });
  }

  /** Writes a row group: the values of each column in their order. Times are ms since 1970. Resolves when it is in the file. */
  async add(values: readonly Source["data"][]): Promise<void> {
    const rows = values[0]?.length ?? 0;
    this.#writer.write({
      columnData: this.#columns.map(
        ({ name, kind }, i): Source => ({
          name,
          data: values[i] ?? [],
          offsetIndex: false,
          // A fraction of the size and time of the default: neighbouring rows are of the same repository.
          ...(kind === "integer" || kind === "time" ? { encoding: "DELTA_BINARY_PACKED" as const } : {}),
        }),
      ),
      rowGroupSize: Math.max(1, rows),
    });
    this.#rows += rows;
    await this.#flush();
  }

  /** Writes the end of the file. Resolves when it is on the disk. */
  async finish(): Promise<WrittenFile> {
    this.#writer.finish();
    await this.#flush((file) => file.sync());
    return { bytes: this.#buffer.offset, rows: this.#rows, sha256: this.#hash.digest("hex") };
  }

  async #flush(then: (file: FileHandle) => Promise<void> = async () => {}): Promise<void> {
    const bytes = this.#buffer.getBytes();
    this.#hash.update(bytes);
    // Never creates a file where there was one: another process may have removed it.
    const file = this.#isNew ? await open(this.#path, "ax", 0o600) : await openToAppend(this.#path);
    this.#isNew = false;
    try {
      await file.writeFile(bytes);
      await then(file);
    } finally {
      await file.close();
    }
    // Only bytes that are not written yet stay in memory.
    this.#buffer.index = 0;
    this.#buffer.buffer = new ArrayBuffer(FIRST_BYTES);
    this.#buffer.view = new DataView(this.#buffer.buffer);
  }
}

const FIRST_BYTES = 1_024;

/** Unlike the mode `a`, this fails if there is no file. */
function openToAppend(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_APPEND);
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
